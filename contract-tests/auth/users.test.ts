import { describe, expect, it } from 'vitest';
import { contract } from '../harness.ts';
import { absentUser as absent, tenantWithApp } from './people.ts';

const ada = {
  email: 'ada@example.com',
  username: 'ada',
  name: 'Ada Lovelace',
  metadata: { company: 'Analytical Engines' },
};

contract('auth Users', (api) => {
  describe('create', () => {
    it('201 with the user as stored', async () => {
      const { auth } = (await tenantWithApp(api)).plinth;
      expect(await auth.users.create({ body: ada })).toMatchObject({ ...ada, banned: false });
    });

    it('404 in an app that does not exist', () =>
      api
        .operator()
        .refused(404, 'app not found', ({ auth }) =>
          auth.users.create({ body: { ...ada, app_id: 'nowhere' } }),
        ));

    it('409 when the address is taken', async () => {
      const tenant = await tenantWithApp(api);
      await tenant.plinth.auth.users.create({ body: ada });
      await tenant.refused(409, 'email already taken', ({ auth }) =>
        auth.users.create({ body: { email: ada.email } }),
      );
    });
  });

  describe('list', () => {
    it('200 with the users of the app', async () => {
      const { auth } = (await tenantWithApp(api)).plinth;
      await auth.users.create({ body: ada });
      const { users } = await auth.users.list({ search: 'ada' });
      expect(users).toEqual([expect.objectContaining(ada)]);
    });

    it('404 of an app that does not exist', () =>
      api.operator().refused(404, 'app not found', ({ auth }) => auth.users.list({ app_id: 'nowhere' })));
  });

  describe('one user', () => {
    it('200 when it is read, changed and deleted', async () => {
      const { auth } = (await tenantWithApp(api)).plinth;
      const { id: userId } = await auth.users.create({ body: { ...ada, name: 'Ada' } });
      await auth.users.get({ userId });
      expect(await auth.users.update({ userId, body: { name: ada.name } })).toMatchObject(ada);
      expect(await auth.users.delete({ userId })).toEqual({ status: 'deleted' });
    });

    it('200 for what its administration does', async () => {
      const { auth } = (await tenantWithApp(api)).plinth;
      const { id: userId } = await auth.users.create({ body: ada });
      expect(await auth.users.ban({ userId, body: { reason: 'spam' } })).toMatchObject({
        ban_reason: 'spam',
      });
      expect(await auth.users.unban({ userId })).toMatchObject({ banned: false });
      expect((await auth.users.roles({ userId })).roles).not.toHaveLength(0);
      expect(Array.isArray((await auth.users.sessions({ userId })).sessions)).toBe(true);
      expect(await auth.users.signoutAll({ userId })).toMatchObject({ status: 'revoked' });
      expect(await auth.users.resetMfa({ userId })).toEqual({ status: 'removed' });
    });

    it('404 when it does not exist', async () => {
      const tenant = await tenantWithApp(api);
      const of = { userId: absent };
      await tenant.refused(404, 'user not found', ({ auth }) => auth.users.get(of));
      await tenant.refused(404, 'user not found', ({ auth }) =>
        auth.users.update({ ...of, body: { name: 'x' } }),
      );
      await tenant.refused(404, 'user not found', ({ auth }) => auth.users.delete(of));
      await tenant.refused(404, 'user not found', ({ auth }) => auth.users.ban(of));
      await tenant.refused(404, 'user not found', ({ auth }) => auth.users.unban(of));
      await tenant.refused(404, 'user not found', ({ auth }) => auth.users.roles(of));
      await tenant.refused(404, 'user not found', ({ auth }) => auth.users.sessions(of));
      await tenant.refused(404, 'user not found', ({ auth }) => auth.users.signoutAll(of));
      await tenant.refused(404, 'user not found', ({ auth }) => auth.users.resetMfa(of));
    });

    it('409 when another account has what it is changed to', async () => {
      const tenant = await tenantWithApp(api);
      await tenant.plinth.auth.users.create({ body: ada });
      const { id: userId } = await tenant.plinth.auth.users.create({
        body: { email: 'charles@example.com' },
      });
      await tenant.refused(409, 'username already taken', ({ auth }) =>
        auth.users.update({ userId, body: { username: 'Ada' } }),
      );
    });
  });
});
