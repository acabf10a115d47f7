import { expect, it } from 'vitest';
import { contract } from '../harness.ts';

contract('auth SigningKeys', (api) => {
  it('rotate: 200 with one key of each algorithm that signs', async () => {
    const { auth } = api.operator().plinth;
    const { keys } = await auth.signingKeys.rotate();
    const active = keys.filter(({ state }) => state === 'active').map(({ alg }) => alg);
    expect(new Set(active).size).toBe(active.length);
    expect(active).toContain('ES256');
  });

  it('list: 200 with the keys of the key set', async () => {
    const { auth } = api.operator().plinth;
    await auth.signingKeys.rotate();
    const { keys: shown } = await auth.discovery.jwks();
    const { keys } = await auth.signingKeys.list();
    expect(keys.map(({ kid }) => kid)).toContain(shown[0]!.kid);
  });
});
