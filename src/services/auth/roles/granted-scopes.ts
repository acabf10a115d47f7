import { covers } from '../../../http/caller.ts';
import { isGuarded } from '../directory/guarded-scopes.ts';

/** Scopes of OpenID Connect: they concern the user, so a client that acts for itself has none. */
export const oidcScopes: readonly string[] = ['openid', 'profile', 'email', 'phone', 'offline_access'];

export const isOidc = (scope: string): boolean => oidcScopes.includes(scope);

/** Parses scopes as OAuth sends them: separated by spaces. */
export const scopesIn = (text: string | undefined): string[] => [
  ...new Set((text ?? '').split(' ').filter((scope) => scope !== '')),
];

/**
 * Returns the requested scopes that the client may have, or all of those if none are requested. If none remain, returns the
 * request as sent, so that the refusal names it.
 */
export function requestedScopes(sent: string | undefined, allowed: readonly string[]): string {
  if (sent === undefined) return allowed.join(' ');
  const known = scopesIn(sent).filter((scope) => allowed.includes(scope));
  return known.length === 0 ? sent : known.join(' ');
}

/** The scopes that a client may have on behalf of a user: guarded scopes only if the user holds them. */
export const scopesForUser = (allowed: readonly string[], held: readonly string[]): string[] =>
  allowed.filter((scope) => isOidc(scope) || !isGuarded(scope) || covers(held, scope));

/** The scopes that a client may have when it acts for itself. */
export const scopesForItself = (allowed: readonly string[]): string[] =>
  allowed.filter((scope) => !isOidc(scope));
