import { services } from '../../../../generated/operations.ts';
import type { Permission } from '../../../../generated/auth/types.ts';
import type { Context } from '../../../http/context.ts';
import { GrantExceedsCaller, HoldsMore } from '../errors.ts';

/** The scope that a permission stands for. */
export const scopeOf = ({ resource, action }: Pick<Permission, 'resource' | 'action'>): string =>
  resource === '*' && action === '*' ? '*' : `${resource}:${action}`;

/** Whether a scope opens a part of the platform; all other names are the app's own. */
export function isGuarded(scope: string): boolean {
  const [resource = ''] = scope.split(':', 1);
  return resource === '*' || Object.hasOwn(services, resource);
}

type Caller = Pick<Context, 'holds'>;

/** Nobody grants what they do not hold: only a caller who covers a guarded scope may grant it. */
export function checkMayGive(caller: Caller, scopes: readonly string[]): void {
  const exceeding = beyond(caller, scopes);
  if (exceeding !== undefined) throw GrantExceedsCaller(exceeding);
}

/** Nobody changes, ends or takes over a target that holds more than they do: `scopes` are the target's scopes. */
export function checkMayChange(
  caller: Caller,
  what: Parameters<typeof HoldsMore>[0],
  scopes: readonly string[],
): void {
  const exceeding = beyond(caller, scopes);
  if (exceeding !== undefined) throw HoldsMore(what, exceeding);
}

/** Whether a holder of these scopes holds more than the caller. */
export const isBeyond = (caller: Caller, scopes: readonly string[]): boolean =>
  beyond(caller, scopes) !== undefined;

/** Returns the first guarded scope that the caller does not cover. */
const beyond = (caller: Caller, scopes: readonly string[]): string | undefined =>
  scopes.find((scope) => isGuarded(scope) && !caller.holds(scope));
