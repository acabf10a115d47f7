import { describe, expect, it } from 'vitest';
import { contract } from '../harness.ts';
import { tenantWithApp } from './people.ts';

/** Deliveries never arrive: this name is reserved and never resolves. */
const hook = { url: 'https://hooks.invalid/auth', events: ['user.created' as const] };
const webhookId = 'whk_01m7w6qgepfq9s8v928hnev999';
const deliveryId = 'whd_01m7w6qgepfq9s8v99bvv1f999';

contract('auth Webhooks', (api) => {
  it('create: 201 with the secret', async () => {
    const { webhooks } = (await tenantWithApp(api)).plinth.auth;
    expect((await webhooks.create({ body: hook })).secret).toMatch(/^whsec_/);
  });

  it('create: 409 beyond as many as an app may have', async () => {
    const tenant = await tenantWithApp(api);
    for (let made = 0; made < 20; made++) await tenant.plinth.auth.webhooks.create({ body: hook });
    await tenant.refused(409, 'limit reached: 20 webhooks', ({ auth }) =>
      auth.webhooks.create({ body: hook }),
    );
  });

  it('list: 200 with the webhooks of the app, without their secrets', async () => {
    const { webhooks } = (await tenantWithApp(api)).plinth.auth;
    await webhooks.create({ body: hook });
    const [listed] = (await webhooks.list()).webhooks;
    if (api.target === 'server') expect(listed).not.toHaveProperty('secret');
  });

  it('create and list: 404 in an app that does not exist', async () => {
    const app_id = 'nowhere';
    const operator = api.operator();
    await operator.refused(404, 'app not found', ({ auth }) =>
      auth.webhooks.create({ body: { ...hook, app_id } }),
    );
    await operator.refused(404, 'app not found', ({ auth }) => auth.webhooks.list({ app_id }));
  });

  describe('one webhook', () => {
    it('200 when it is read, changed, given a new secret and deleted', async () => {
      const { webhooks } = (await tenantWithApp(api)).plinth.auth;
      const { id, secret } = await webhooks.create({ body: hook });
      const of = { webhookId: id };
      await webhooks.get(of);
      expect(await webhooks.update({ ...of, body: { url: hook.url } })).toMatchObject({ active: true });
      const rotated = await webhooks.rotateSecret(of);
      expect(rotated.secret).toMatch(/^whsec_/);
      if (api.target === 'server') expect(rotated.secret).not.toBe(secret);
      expect(await webhooks.delete(of)).toEqual({ status: 'deleted' });
    });

    it('404 when it does not exist', async () => {
      const tenant = await tenantWithApp(api);
      const of = { webhookId };
      const message = 'webhook not found';
      await tenant.refused(404, message, ({ auth }) => auth.webhooks.get(of));
      await tenant.refused(404, message, ({ auth }) => auth.webhooks.update({ ...of, body: hook }));
      await tenant.refused(404, message, ({ auth }) => auth.webhooks.rotateSecret(of));
      await tenant.refused(404, message, ({ auth }) => auth.webhooks.test(of));
      await tenant.refused(404, message, ({ auth }) => auth.webhooks.deliveries(of));
      await tenant.refused(404, message, ({ auth }) => auth.webhooks.delete(of));
    });
  });

  describe('deliveries', () => {
    it('200 when one is tried, listed and tried again', async () => {
      const { webhooks } = (await tenantWithApp(api)).plinth.auth;
      const { id: webhookId } = await webhooks.create({ body: hook });
      const { id: deliveryId } = await webhooks.test({ webhookId });
      expect((await webhooks.deliveries({ webhookId })).deliveries).toEqual([
        expect.objectContaining({ id: deliveryId }),
      ]);
      expect((await webhooks.retry({ webhookId, deliveryId })).id).toBe(deliveryId);
    });

    it('404 when it does not exist', async () => {
      const tenant = await tenantWithApp(api);
      const { id: webhookId } = await tenant.plinth.auth.webhooks.create({ body: hook });
      await tenant.refused(404, 'delivery not found', ({ auth }) =>
        auth.webhooks.retry({ webhookId, deliveryId }),
      );
    });
  });
});
