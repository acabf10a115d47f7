import { expect, it } from 'vitest';
import { openPair, sealPair } from './retry-box.ts';
import { issueToken } from './tokens.ts';

const pair = {
  session_token: issueToken('pst', '000001').token,
  refresh_token: issueToken('prt', '000001').token,
};

it('only the refresh token that it was given for opens the pair, in its session', () => {
  const { token } = issueToken('prt', '000001');
  const box = sealPair(token, 'sess_1', pair);
  expect(openPair(token, 'sess_1', box)).toEqual(pair);
  expect(openPair(issueToken('prt', '000001').token, 'sess_1', box)).toBeUndefined();
  expect(openPair(token, 'sess_2', box)).toBeUndefined();
  expect(box.includes(pair.session_token)).toBe(false);
  expect(sealPair(token, 'sess_1', pair).equals(box)).toBe(false);
});
