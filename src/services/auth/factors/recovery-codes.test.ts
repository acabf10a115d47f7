import { expect, it } from 'vitest';
import { newRecoveryCodes, recoveryHash } from './recovery-codes.ts';

it('a set has ten codes of three groups, none twice', () => {
  const codes = newRecoveryCodes();
  expect(new Set(codes).size).toBe(10);
  for (const code of codes) expect(code).toMatch(/^[a-hjkmnp-z2-9]{4}(-[a-hjkmnp-z2-9]{4}){2}$/);
});

it.each(['7kq2m9xdr4tw', '7KQ2-M9XD-R4TW', ' 7kq2 m9xd r4tw ', '7-k-q-2m9xdr4tw'])(
  '%j is the same code',
  (typed) => {
    expect(recoveryHash('user_1', typed)).toEqual(recoveryHash('user_1', '7kq2-m9xd-r4tw'));
  },
);

it('the same code of another user, and another code, are stored otherwise', () => {
  const hash = recoveryHash('user_1', '7kq2-m9xd-r4tw');
  expect(recoveryHash('user_2', '7kq2-m9xd-r4tw').equals(hash)).toBe(false);
  expect(recoveryHash('user_1', '7kq2-m9xd-r4tx').equals(hash)).toBe(false);
});
