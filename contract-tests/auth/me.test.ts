import { describe, expect, it } from 'vitest';
import { contract } from '../harness.ts';
import { absentUser, organized, tenantWithApp } from './people.ts';

const absentOrg = 'org_01m7w6qgepfq9s8v9m3zmg8529';

contract('auth Me', (api) => {
  it('200 when it is read, changed, exported and deleted', async () => {
    const { me } = (await api.tenant().withUser()).plinth.auth;
    const user = await me.get();
    expect(await me.update({ body: { name: 'Ada Lovelace' } })).toMatchObject({ name: 'Ada Lovelace' });
    expect((await me.export()).user.id).toBe(user.id);
    expect(await me.delete()).toEqual({ status: 'account_deleted' });
  });

  it('404 when root names a user who does not exist', async () => {
    const nobody = (await tenantWithApp(api)).asUser(absentUser);
    const message = 'user not found';
    await nobody.refused(404, message, ({ auth }) => auth.me.get());
    await nobody.refused(404, message, ({ auth }) => auth.me.update({ body: { name: 'Ada' } }));
    await nobody.refused(404, message, ({ auth }) => auth.me.export());
    await nobody.refused(404, message, ({ auth }) => auth.me.delete());
    await nobody.refused(404, message, ({ auth }) => auth.me.reauthenticate({ body: { password: 'x' } }));
  });

  it('update: 409 when the username is taken', async () => {
    const tenant = await tenantWithApp(api);
    await tenant.plinth.auth.users.create({ body: { email: 'ada@example.com', username: 'ada' } });
    const other = await tenant.withUser();
    await other.refused(409, 'username already taken', ({ auth }) =>
      auth.me.update({ body: { username: 'Ada' } }),
    );
  });

  describe('switchOrg', () => {
    it('200 with the session, there and back', async () => {
      const { ada, orgId } = await organized(api);
      const { me } = ada.plinth.auth;
      const there = await me.switchOrg({ body: { org_id: orgId } });
      if (api.target === 'server') expect(there.org_id).toBe(orgId);
      await me.switchOrg({ body: { org_id: null } });
    });

    it('404 where the user is no member', async () => {
      const ada = await api.tenant().withUser();
      await ada.refused(404, 'organization not found', ({ auth }) =>
        auth.me.switchOrg({ body: { org_id: absentOrg } }),
      );
    });
  });

  describe('reauthenticate', () => {
    it('200 by the password', async () => {
      const { plinth, password } = await api.tenant().withUser();
      expect(await plinth.auth.me.reauthenticate({ body: { password } })).toEqual({ status: 'ok' });
    });

    it('401 for a wrong one', async () => {
      const ada = await api.tenant().withUser();
      await ada.refused(401, 'invalid credentials', ({ auth }) =>
        auth.me.reauthenticate({ body: { password: 'wrong' } }),
      );
    });
  });
});
