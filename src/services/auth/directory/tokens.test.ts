import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { issueToken, readToken, type TokenHead } from './tokens.ts';

const heads: TokenHead[] = ['pst', 'prt', 'chall', 'sec', 'dvt', 'vrf', 'rst', 'inv'];

describe('a token', () => {
  it('is the one of the published vector', () => {
    const { token, hash } = issueToken(
      'pst',
      '000001',
      Uint8Array.from({ length: 32 }, (_, at) => at),
    );
    expect(token).toBe('pst_000001003aUlTJC7tjlCTQj2uNU3MFagCXG9LRKRcwGkBIDlf2FLoJV');
    expect(hash.toString('hex')).toBe('902711e7cffbf81e439d7a7bc06e9488f1fd38e40175c1f76f409a672da7b60a');
  });

  it.each(heads)('%s is read back by its own head only', (head) => {
    const { token, hash } = issueToken(head, 'aB3xY9');
    expect(readToken(head, token)).toEqual({ tag: 'aB3xY9', hash });
    for (const other of heads.filter((one) => one !== head)) expect(readToken(other, token)).toBeUndefined();
  });

  it('is not read once one of its characters is another', () =>
    fc.assert(
      fc.property(fc.nat({ max: 58 }), fc.string({ minLength: 1, maxLength: 1 }), (at, character) => {
        const { token } = issueToken('pst', 'aB3xY9');
        fc.pre(token[at] !== character);
        expect(readToken('pst', token.slice(0, at) + character + token.slice(at + 1))).toBeUndefined();
      }),
    ));

  it.each(['', 'pst_', 'pst_x', `pst_${'a'.repeat(55)}`, '\0', 'pst_\ud800'])('is never %j', (text) =>
    expect(readToken('pst', text)).toBeUndefined(),
  );
});
