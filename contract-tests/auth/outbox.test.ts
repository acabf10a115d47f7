import { describe, expect, it } from 'vitest';
import { contract } from '../harness.ts';
import { messageTo, tenantWithApp } from './people.ts';

const messageId = 'msg_01m7w6qgepfq9s8vbawh33jb99';

contract('auth Outbox', (api) => {
  it('200 when messages are listed, read and deleted', async () => {
    const tenant = await tenantWithApp(api);
    const { email } = await tenant.withUser();
    const { outbox } = tenant.plinth.auth;
    const { id } = await messageTo(tenant, email, 'verify_email');
    expect(await outbox.get({ messageId: id })).toMatchObject({ channel: 'email', kind: 'verify_email' });
    expect(await outbox.clear()).toEqual({ status: 'deleted' });
  });

  describe('get', () => {
    it('404 when the message does not exist', async () => {
      const tenant = await tenantWithApp(api);
      await tenant.refused(404, 'message not found', ({ auth }) => auth.outbox.get({ messageId }));
    });
  });
});
