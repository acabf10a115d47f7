import { expect, it } from 'vitest';
import { contract } from '../harness.ts';
import { absentUser, tenantWithApp } from './people.ts';

const clientId = 'client_01m7w6qgepfq9s8vanppxya299';

contract('auth consents', (api) => {
  it('200 with what the user granted, and when a grant is taken back', async () => {
    const tenant = await tenantWithApp(api);
    const { me } = (await tenant.withUser()).plinth.auth;
    expect(await me.consents()).toHaveProperty('consents');
    const { id } = await tenant.plinth.auth.clients.create({
      body: { name: 'Reports', redirect_uris: ['https://reports.example.com/callback'] },
    });
    if (api.target === 'mock')
      expect(await me.revokeConsent({ clientId: id })).toEqual({ status: 'revoked' });
  });

  it('404 for a client that was granted nothing, and when root names a user who does not exist', async () => {
    const tenant = await tenantWithApp(api);
    const ada = await tenant.withUser();
    await ada.refused(404, 'consent not found', ({ auth }) => auth.me.revokeConsent({ clientId }));
    await tenant.asUser(absentUser).refused(404, 'user not found', ({ auth }) => auth.me.consents());
  });
});
