import { describe, expect, it } from 'vitest';
import { contract } from '../harness.ts';

contract('auth Discovery', (api) => {
  const { discovery } = api.tenant().anonymous().plinth.auth;

  it('openid and authorizationServer: 200 with the same metadata', async () => {
    const metadata = await discovery.openid();
    expect(metadata).toMatchObject({ response_types_supported: ['code'] });
    if (api.target === 'server') expect(await discovery.authorizationServer()).toEqual(metadata);
  });

  describe('jwks', () => {
    it('200 with the public keys, which may be kept for a while', async () => {
      const { data, response } = await discovery.jwks().response();
      expect(data.keys).not.toHaveLength(0);
      if (api.target === 'server') expect(response.headers.get('cache-control')).toMatch(/max-age=300/);
    });
  });
});
