import { expect, test } from 'vitest';
import { covers, nobody, type Caller } from './caller.ts';
import { isOperators } from './operators.ts';

const root: Caller = {
  ...nobody,
  ...{ tenant: 'acme', actor: 'root', credential: { kind: 'root', id: 'root' }, scopes: ['*'] },
};
const key: Caller = { ...root, credential: { kind: 'key', id: 'key_1' } };

test.each<[boolean, string, Caller, boolean]>([
  [true, 'the operator of the service', key, true],
  [true, 'root where a header names the tenant', root, false],
  [false, 'root that speaks for somebody there', { ...root, userId: 'usr_1' }, false],
  [false, 'root with fewer scopes', { ...root, scopes: ['safety:admin'] }, false],
  [false, 'a key with all scopes', key, false],
  [false, 'nobody', nobody, false],
])('it is %s that the operator decides by %s', (expected, _, caller, operator) => {
  const holds = (scope: string) => covers(caller.scopes, scope);
  expect(isOperators({ caller, operator, userId: caller.userId, holds })).toBe(expected);
});
