import { describe, expect, it } from 'vitest';
import { contract } from '../harness.ts';

const absent = 'user_01m7w6qgepfq9s8v7qdkvzwn99';

contract('auth Admin', (api) => {
  describe('impersonate', () => {
    it('200 with a session as the user, which stop ends with 200', async () => {
      const tenant = api.tenant();
      const { auth } = tenant.plinth;
      await auth.apps.create({ body: { name: 'Default app', slug: 'default' } });
      const { id } = await auth.users.create({ body: { email: 'charles@example.com' } });
      const begun = await auth.admin.impersonate({
        body: { target_user_id: id, reason: 'support case 4711' },
      });
      expect(begun.target_user.email).toBe('charles@example.com');
      const { plinth } = tenant.withSession(begun.session_token);
      expect(await plinth.auth.admin.stopImpersonating()).toEqual({ status: 'stopped' });
    });

    it('404 when the user does not exist', async () => {
      const tenant = api.tenant();
      await tenant.plinth.auth.apps.create({ body: { name: 'Default app', slug: 'default' } });
      await tenant.refused(404, 'user not found', ({ auth }) =>
        auth.admin.impersonate({ body: { target_user_id: absent } }),
      );
    });
  });
});
