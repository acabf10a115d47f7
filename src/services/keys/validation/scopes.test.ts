import { describe, expect, it } from 'vitest';
import { coversAll, exceeding, holdScopes, isGuarded } from './scopes.ts';

describe('coverage', () => {
  it.each([
    { held: ['*'], scope: 'anything:at:all', covered: true },
    { held: ['*'], scope: '*', covered: true },
    { held: ['read'], scope: 'read', covered: true },
    { held: ['read'], scope: 'read:users', covered: false },
    { held: ['read:users'], scope: 'read', covered: false },
    { held: ['a:*'], scope: 'a:b', covered: true },
    { held: ['a:*'], scope: 'a:b:c', covered: true },
    { held: ['a:*'], scope: 'a:*', covered: true },
    { held: ['a:*'], scope: 'a:b:*', covered: true },
    { held: ['a:*'], scope: 'a', covered: false },
    { held: ['a:*'], scope: 'ab', covered: false },
    { held: ['a:*'], scope: 'ab:c', covered: false },
    { held: ['a:*'], scope: '*', covered: false },
    { held: ['a:b:*'], scope: 'a:b:c', covered: true },
    { held: ['a:b:*'], scope: 'a:b', covered: false },
    { held: ['a:b:*'], scope: 'a:bc:d', covered: false },
    { held: ['a:b:*'], scope: 'a:*', covered: false },
    { held: ['a:b'], scope: 'a:*', covered: false },
    { held: [], scope: 'a', covered: false },
    { held: ['A:*'], scope: 'a:b', covered: false },
  ])('$held covers $scope: $covered', ({ held, scope, covered }) => {
    expect(holdScopes(held).covers(scope)).toBe(covered);
  });

  it('of an empty requirement is given, even by a key without scopes', () => {
    expect(coversAll(holdScopes([]), [])).toBe(true);
  });

  it('needs all of the required scopes', () => {
    const held = holdScopes(['a:*', 'b']);
    expect(coversAll(held, ['a:x', 'b'])).toBe(true);
    expect(coversAll(held, ['a:x', 'c'])).toBe(false);
  });
});

describe('guarded scopes', () => {
  it.each([
    ['*', true],
    ['keys:write', true],
    ['retrieval:*', true],
    ['sync', true],
    ['keysmith:write', false],
    ['read:users', false],
    ['read:keys', false],
    ['Keys:write', false],
  ])('%s is guarded: %s', (scope, guarded) => {
    expect(isGuarded(scope)).toBe(guarded);
  });

  it('may be given only by a caller who holds them; the tenant’s own names by anyone', () => {
    const caller = holdScopes(['keys:write', 'retrieval:*']);
    const wanted = ['keys:write', 'keys:admin', 'retrieval:read', 'read:users', '*'];
    expect(exceeding(wanted, (scope) => caller.covers(scope))).toEqual(['keys:admin', '*']);
  });
});
