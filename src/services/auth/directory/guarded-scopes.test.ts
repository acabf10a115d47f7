import { describe, expect, it } from 'vitest';
import { services } from '../../../../generated/operations.ts';
import { covers } from '../../../http/caller.ts';
import { checkMayGive, isGuarded, scopeOf } from './guarded-scopes.ts';

it.each([
  ['documents', 'write', 'documents:write'],
  ['auth', '*', 'auth:*'],
  ['*', 'read', '*:read'],
  ['*', '*', '*'],
])('a permission on %s to %s is the scope %s', (resource, action, scope) =>
  expect(scopeOf({ resource, action })).toBe(scope),
);

describe('guarded scopes', () => {
  it.each(Object.keys(services))('are all of the service %s', (service) =>
    expect([`${service}:read`, `${service}:*`, service].map(isGuarded)).toEqual([true, true, true]),
  );

  it.each(['*', '*:read', '*:*'])('are those on everything: %s', (scope) =>
    expect(isGuarded(scope)).toBe(true),
  );

  it.each(['documents:write', 'authors:read', 'Auth:read', 'auth/x:read', 'constructor:read', 'openid'])(
    'are not the app’s own names: %s',
    (scope) => expect(isGuarded(scope)).toBe(false),
  );
});

describe('who gives a scope', () => {
  const holding = (...held: string[]) => ({ holds: (scope: string) => covers(held, scope) });

  it.each([
    [['auth:write'], ['documents:write', 'documents:*']],
    [['auth:*'], ['auth:admin', 'auth:*']],
    [['*:read'], ['billing:read', '*:read']],
    [['*'], ['*', '*:read', 'keys:*']],
  ])('holds %j and may give %j', (held, scopes) =>
    expect(() => checkMayGive(holding(...held), scopes)).not.toThrow(),
  );

  it.each([
    [['auth:write'], ['documents:read', 'auth:admin'], 'auth:admin'],
    [['auth:*'], ['*:read'], '*:read'],
    [['auth:read', 'auth:write'], ['auth:*'], 'auth:*'],
    [['auth:*'], ['*'], '*'],
    [['*:read'], ['keys:*'], 'keys:*'],
  ])('holds %j and may not give %j', (held, scopes, named) =>
    expect(() => checkMayGive(holding(...held), scopes)).toThrow(
      `cannot give ${named}, which the caller does not hold`,
    ),
  );
});
