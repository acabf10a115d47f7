import { covers } from '../../http/caller.ts';
import { isGuarded } from './guarded-scopes.ts';

/** Scopes of OpenID Connect: they are about the user, so a client that acts for itself has none. */
export const oidcScopes: readonly string[] = ['openid', 'profile', 'email', 'phone', 'offline_access'];

export const isOidc = (scope: string): boolean => oidcScopes.includes(scope);

/** Scopes as OAuth sends them: separated by spaces. */
export const scopesIn = (text: string | undefined): string[] => [
  ...new Set((text ?? '').split(' ').filter((scope) => scope !== '')),
];

/**
 * What an authorization asks for of what the client may have; all of that where it does not say. Where nothing remains it is
 * told as it was sent, so that it is refused by name.
 */
export function requestedScopes(sent: string | undefined, allowed: readonly string[]): string {
  if (sent === undefined) return allowed.join(' ');
  const known = scopesIn(sent).filter((scope) => allowed.includes(scope));
  return known.length === 0 ? sent : known.join(' ');
}

/** What a client may have on behalf of a user: what guards a part of the platform only as far as the user holds it. */
export const scopesForUser = (allowed: readonly string[], held: readonly string[]): string[] =>
  allowed.filter((scope) => isOidc(scope) || !isGuarded(scope) || covers(held, scope));

/** What a client may have when it acts for itself. */
export const scopesForItself = (allowed: readonly string[]): string[] =>
  allowed.filter((scope) => !isOidc(scope));
