import { describe, expect, test } from 'vitest';
import { covers } from './caller.ts';

describe('a held scope', () => {
  test.each([
    ['*', 'auth:read'],
    ['*', '*'],
    ['*', '*:read'],
    ['auth:read', 'auth:read'],
    ['auth:*', 'auth:read'],
    ['auth:*', 'auth:*'],
    ['read:*', 'read:users:all'],
    ['*:read', 'auth:read'],
    ['*:read', '*:read'],
    ['*:users:all', 'read:users:all'],
  ])('%s covers %s', (held, scope) => expect(covers(['other', held], scope)).toBe(true));

  test.each([
    ['auth:read', 'auth:write'],
    ['auth:*', 'authz:read'],
    ['auth:*', 'auth'],
    ['auth:*', '*'],
    ['auth:*', '*:read'],
    ['*:read', 'auth:write'],
    ['*:read', 'auth:thread'],
    ['*:read', 'read'],
    ['*:read', ':read:x'],
    ['*:read', 'auth:*'],
    ['*:read', '*'],
    ['*:all', 'read:users:all'],
    ['auth:read', '*:read'],
    ['', 'auth:read'],
  ] as [string, string][])('%s does not cover %s', (held, scope) =>
    expect(covers([held], scope)).toBe(false),
  );

  test('none covers nothing', () => expect(covers([], 'auth:read')).toBe(false));
});
