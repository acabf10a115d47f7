import { describe, expect, it } from 'vitest';
import { behaviour, contract } from '../harness.ts';
import { tenantWithApp } from './people.ts';

const reports = { name: 'Reports', redirect_uris: ['https://reports.example.com/callback'] };
const phoneApp = { name: 'Phone app', redirect_uris: ['com.example.app:/callback'], public: true };
const clientId = 'client_01m7w6qgepfq9s8vanppxya299';

contract('auth Clients', (api) => {
  it('create: 201 with the secret', async () => {
    const { clients } = (await tenantWithApp(api)).plinth.auth;
    const made = await clients.create({ body: reports });
    expect(made).toMatchObject({ ...reports, public: false, client_id: made.id });
    expect(made.client_secret).toMatch(/^sec_/);
  });

  it('list: 200 with the clients of the app', async () => {
    const { clients } = (await tenantWithApp(api)).plinth.auth;
    await clients.create({ body: reports });
    expect((await clients.list()).clients).toEqual([expect.objectContaining(reports)]);
  });

  it('create and list: 404 in an app that does not exist', async () => {
    const app_id = 'nowhere';
    const operator = api.operator();
    await operator.refused(404, 'app not found', ({ auth }) =>
      auth.clients.create({ body: { ...reports, app_id } }),
    );
    await operator.refused(404, 'app not found', ({ auth }) => auth.clients.list({ app_id }));
  });

  describe('one client', () => {
    it('200 when it is read, changed, given a new secret and deleted', async () => {
      const { clients } = (await tenantWithApp(api)).plinth.auth;
      const { id, client_secret } = await clients.create({ body: reports });
      await clients.get({ clientId: id });
      expect(await clients.update({ clientId: id, body: { name: reports.name } })).toMatchObject(reports);
      const rotated = await clients.rotateSecret({ clientId: id, body: { grace_period: '1h' } });
      if (api.target === 'server') expect(rotated.client_secret).not.toBe(client_secret);
      expect(await clients.delete({ clientId: id })).toEqual({ status: 'deleted' });
    });

    it('404 when it does not exist', async () => {
      const tenant = await tenantWithApp(api);
      const message = 'client not found';
      await tenant.refused(404, message, ({ auth }) => auth.clients.get({ clientId }));
      await tenant.refused(404, message, ({ auth }) => auth.clients.update({ clientId, body: reports }));
      await tenant.refused(404, message, ({ auth }) => auth.clients.rotateSecret({ clientId }));
      await tenant.refused(404, message, ({ auth }) => auth.clients.delete({ clientId }));
    });

    it('rotateSecret: 409 for a public client', async () => {
      const tenant = await tenantWithApp(api);
      const { id } = await tenant.plinth.auth.clients.create({ body: phoneApp });
      await tenant.refused(409, 'a public client has no secret', ({ auth }) =>
        auth.clients.rotateSecret({ clientId: id }),
      );
    });
  });
});

behaviour('auth Clients', (api) => {
  describe('create', () => {
    it('409 when it is repeated: the secret is shown once', async () => {
      const tenant = await tenantWithApp(api);
      const once = { idempotencyKey: 'once' };
      await tenant.plinth.auth.clients.create({ body: reports }, once);
      await tenant.refused(409, /./, ({ auth }) => auth.clients.create({ body: reports }, once));
      expect((await tenant.plinth.auth.clients.list()).clients).toHaveLength(1);
    });
  });
});
