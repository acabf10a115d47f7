import { describe, expect, it } from 'vitest';
import { behaviour, contract, type Api } from '../harness.ts';
import { targetOf } from '../targets.ts';
import { messageTo, tenantWithApp } from './people.ts';

const messageId = 'msg_01m7w6qgepfq9s8vbawh33jb99';

/** Returns the key of the outbox page that the server prints. The mock accepts any key. */
const printedKey = ({ target }: Api) =>
  target === 'mock' ? 'any' : (/outbox\/page\?key=([\w-]+)/.exec(targetOf(target)!.printed)?.[1] ?? '');

contract('auth Outbox', (api) => {
  it('200 when messages are listed, read and deleted', async () => {
    const tenant = await tenantWithApp(api);
    const { email } = await tenant.withUser();
    const { outbox } = tenant.plinth.auth;
    const { id } = await messageTo(tenant, email, 'verify_email');
    expect(await outbox.get({ messageId: id })).toMatchObject({ channel: 'email', kind: 'verify_email' });
    expect(await outbox.clear()).toEqual({ status: 'deleted' });
  });

  describe('page', () => {
    it('200 with the newest messages at the address that the server prints', async () => {
      const tenant = await tenantWithApp(api);
      const { email } = await tenant.withUser();
      const { auth } = tenant.anonymous().plinth;
      const shown = await auth.outbox.page({ key: printedKey(api) });
      const text = await shown.text();
      if (api.target === 'server') expect(text).toContain(email);
    });
  });

  describe('get', () => {
    it('404 when the message does not exist', async () => {
      const tenant = await tenantWithApp(api);
      await tenant.refused(404, 'message not found', ({ auth }) => auth.outbox.get({ messageId }));
    });
  });
});

behaviour('auth Outbox', (api) => {
  it('page: 400 with another key than the one that the server prints', async () => {
    const { auth } = api.tenant().anonymous().plinth;
    await expect(auth.outbox.page({ key: 'x'.repeat(43) })).rejects.toMatchObject({ status: 400 });
  });
});
