import type { Context } from '../../http/context.ts';
import { Impersonated } from './errors.ts';

/** How long a session token of an impersonation lasts, however the app sets it. */
export const impersonationTokenMs = 15 * 60_000;

/** When an impersonation ends, however often it is refreshed. */
export const longestImpersonationMs = 60 * 60_000;

/** What changes who somebody is, or takes their data away, is theirs alone: nobody does it as them. */
export function refuseImpersonation({ session }: Pick<Context, 'session'>): void {
  if (session !== null && session.impersonatedBy !== null) throw Impersonated();
}
