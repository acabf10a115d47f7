import { services } from '../../../generated/operations.ts';
import type { Permission } from '../../../generated/auth/types.ts';
import type { Context } from '../../http/context.ts';
import { GrantExceedsCaller } from './errors.ts';

/** The scope that a permission is. */
export const scopeOf = ({ resource, action }: Pick<Permission, 'resource' | 'action'>): string =>
  resource === '*' && action === '*' ? '*' : `${resource}:${action}`;

/** Whether a scope opens a part of the platform; all other names are the app's own. */
export function isGuarded(scope: string): boolean {
  const [resource = ''] = scope.split(':', 1);
  return resource === '*' || Object.hasOwn(services, resource);
}

/** Nobody gives what they do not hold: a guarded scope is given only by a caller who covers it. */
export function checkMayGive(caller: Pick<Context, 'holds'>, scopes: readonly string[]): void {
  const exceeding = scopes.find((scope) => isGuarded(scope) && !caller.holds(scope));
  if (exceeding !== undefined) throw GrantExceedsCaller(exceeding);
}
