import { describe, expect, it } from 'vitest';
import { behaviour, contract } from '../harness.ts';

contract('auth SigningKeys', (api) => {
  it('list and rotate: 200 with the keys, without their private parts', async () => {
    const { signingKeys } = api.operator().plinth.auth;
    for (const { keys } of [await signingKeys.list(), await signingKeys.rotate()]) {
      expect(keys).not.toHaveLength(0);
      expect(keys.every((key) => !('d' in key))).toBe(true);
    }
  });
});

behaviour('auth SigningKeys', (api) => {
  describe('rotate', () => {
    it('keeps the key that signed until now in the key set', async () => {
      const { discovery, signingKeys } = api.operator().plinth.auth;
      const before = (await discovery.jwks()).keys.map(({ kid }) => kid);
      await signingKeys.rotate();
      expect((await discovery.jwks()).keys.map(({ kid }) => kid)).toEqual(expect.arrayContaining(before));
    });
  });
});
