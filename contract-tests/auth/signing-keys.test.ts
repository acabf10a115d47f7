import { expect, it } from 'vitest';
import { contract } from '../harness.ts';

// production.test.ts tests a rotation: a server limits rotations per week, and generated requests use them up.
contract('auth SigningKeys', (api) => {
  it('list: 200 with the keys of the key set', async () => {
    const { auth } = api.operator().plinth;
    const { keys: shown } = await auth.discovery.jwks();
    const { keys } = await auth.signingKeys.list();
    expect(keys.map(({ kid }) => kid)).toContain(shown[0]!.kid);
  });
});
