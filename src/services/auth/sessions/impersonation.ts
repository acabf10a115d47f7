import type { Context } from '../../../http/context.ts';
import { covers } from '../../../http/caller.ts';
import { Impersonated } from '../errors.ts';

/** The lifetime of an impersonation's session token, whatever the app sets. */
export const impersonationTokenMs = 15 * 60_000;

/** The maximum duration of an impersonation, including refreshes. */
export const longestImpersonationMs = 60 * 60_000;

/** Returns the scope that a holder of `held` lacks to act as a user who holds `scopes`; undefined when there is none. */
export const lackedToImpersonate = (held: readonly string[], scopes: readonly string[]): string | undefined =>
  ['auth:admin', ...scopes].find((scope) => !covers(held, scope));

/** Only the users themselves may change their identity or take their data away: an impersonator may not. */
export function refuseImpersonation({ session }: Pick<Context, 'session'>): void {
  if (session !== null && session.impersonatedBy !== null) throw Impersonated();
}
