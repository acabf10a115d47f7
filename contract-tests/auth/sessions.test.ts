import { describe, expect, it } from 'vitest';
import { behaviour, contract } from '../harness.ts';
import { absentUser, tenantWithApp } from './people.ts';

const absent = 'sess_01m7w6qgepfq9s8v7rn9y20c99';

contract('auth Sessions', (api) => {
  it('list: 200 with where the user is signed in', async () => {
    const ada = await api.tenant().withUser();
    expect((await ada.plinth.auth.sessions.list()).sessions).toHaveLength(1);
  });

  it('revoke and revokeOthers: 200', async () => {
    const { auth } = (await api.tenant().withUser()).plinth;
    expect(await auth.sessions.revokeOthers()).toMatchObject({ status: 'revoked' });
    const [own] = (await auth.sessions.list()).sessions;
    expect(await auth.sessions.revoke({ sessionId: own!.id })).toEqual({ status: 'revoked' });
  });

  it('404 for a session that does not exist', async () => {
    const ada = await api.tenant().withUser();
    await ada.refused(404, 'session not found', ({ auth }) => auth.sessions.revoke({ sessionId: absent }));
  });

  it('404 when root names a user who does not exist', async () => {
    const nobody = (await tenantWithApp(api)).asUser(absentUser);
    await nobody.refused(404, 'user not found', ({ auth }) => auth.sessions.list());
    await nobody.refused(404, 'user not found', ({ auth }) => auth.sessions.revokeOthers());
  });
});

behaviour('auth Sessions', (api) => {
  describe('revokeOthers', () => {
    it('spares the session that asks', async () => {
      const tenant = await tenantWithApp(api);
      const ada = await tenant.withUser();
      const { email, password, appId: app_id } = ada;
      await tenant.anonymous().plinth.auth.accounts.signin({ body: { email, password, app_id } });
      expect(await ada.plinth.auth.sessions.revokeOthers()).toEqual({ status: 'revoked', count: 1 });
      expect((await ada.plinth.auth.sessions.list()).sessions).toMatchObject([{ current: true }]);
    });
  });
});
