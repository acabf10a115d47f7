import { expect, it } from 'vitest';
import { requestedScopes, scopesForItself, scopesForUser } from './granted-scopes.ts';

const allowed = ['openid', 'email', 'own:thing', 'retrieval:read'];

it.each([
  [undefined, 'openid email own:thing retrieval:read'],
  ['openid', 'openid'],
  ['own:thing openid own:thing', 'own:thing openid'],
  ['openid profile keys:write', 'openid'],
  // A refusal names the scope.
  ['profile', 'profile'],
  ['', ''],
])('of what a client asks for (%j) only what it may have is looked at', (sent, asked) => {
  expect(requestedScopes(sent, allowed)).toBe(asked);
});

it('what guards a part of the platform is given as far as the user holds it', () => {
  expect(scopesForUser(allowed, [])).toEqual(['openid', 'email', 'own:thing']);
  expect(scopesForUser(allowed, ['retrieval:*'])).toEqual(allowed);
  expect(scopesForUser(['*', '*:read', 'auth:write'], ['auth:*'])).toEqual(['auth:write']);
});

it('a client that acts for itself knows nothing of users', () => {
  expect(scopesForItself(allowed)).toEqual(['own:thing', 'retrieval:read']);
});
