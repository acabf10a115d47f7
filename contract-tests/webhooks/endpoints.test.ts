import { describe, expect, it } from 'vitest';
import { behaviour, contract } from '../harness.ts';
import { absent, deafUrl, newEndpoint, newName, newType, send, usedBefore } from './hooks.ts';

const terms = { description: 'Accounting', event_types: ['invoice.*', 'customer.created'] };
const notFound = 'endpoint not found';

contract('Endpoints', (api) => {
  describe('create', () => {
    it('201 with the endpoint and its secret, not to be stored on the way', async () => {
      const body = { url: deafUrl, ...terms };
      const { data, response } = await api.tenant().plinth.webhooks.endpoints.create({ body }).response();
      expect(response.status).toBe(201);
      expect(data).toMatchObject({ ...terms, enabled: true, disabled_reason: null });
      expect(data.secret).toMatch(/^whsec_/);
      expect(response.headers.get('cache-control')).toBe('no-store');
    });

    it('403 for another tenant', async () => {
      const key = await api.tenant().withKey(['webhooks:write']);
      const body = { url: deafUrl, ...terms, tenant_id: 'another' };
      await key.refused(403, /^tenant_id: /, ({ webhooks }) => webhooks.endpoints.create({ body }));
    });

    it('409 when the uid is taken', async () => {
      const tenant = api.tenant();
      await newEndpoint(tenant, { uid: 'accounting' });
      await tenant.refused(409, 'endpoint uid already exists: accounting', ({ webhooks }) =>
        webhooks.endpoints.create({ body: { url: deafUrl, ...terms, uid: 'accounting' } }),
      );
    });

    it('409 when it is repeated, because its secret was not kept', async () => {
      const tenant = api.tenant();
      const once = { idempotencyKey: 'create-once' };
      const body = { url: deafUrl, ...terms };
      const { id } = await tenant.plinth.webhooks.endpoints.create({ body }, once);
      await tenant.refused(409, new RegExp(id), ({ webhooks }) => webhooks.endpoints.create({ body }, once));
    });
  });

  describe('list', () => {
    it('200 with the endpoints of the tenant, without their secrets', async () => {
      const tenant = api.tenant();
      const { id } = await newEndpoint(tenant);
      const [listed, ...others] = await tenant.plinth.webhooks.endpoints.list();
      expect([listed?.id, others]).toEqual([id, []]);
      expect(listed).not.toHaveProperty('secret');
    });
  });

  describe('get', () => {
    it('200 with the endpoint, by its id and by its uid', async () => {
      const tenant = api.tenant();
      const { id } = await newEndpoint(tenant, { ...terms, uid: 'accounting' });
      const { endpoints } = tenant.plinth.webhooks;
      expect(await endpoints.get({ id })).toMatchObject({ id, ...terms });
      expect(await endpoints.get({ id: 'accounting' })).toMatchObject({ id, uid: 'accounting' });
    });
  });

  describe('update', () => {
    it('200 with the endpoint as it is now', async () => {
      const tenant = api.tenant();
      const { id } = await newEndpoint(tenant);
      expect(await tenant.plinth.webhooks.endpoints.update({ id, body: terms })).toMatchObject(terms);
    });

    it('404 when it does not exist', () =>
      api
        .tenant()
        .refused(404, notFound, ({ webhooks }) =>
          webhooks.endpoints.update({ id: absent.endpoint, body: terms }),
        ));

    it('409 when another one has the uid', async () => {
      const tenant = api.tenant();
      await newEndpoint(tenant, { uid: 'accounting' });
      const { id } = await newEndpoint(tenant);
      await tenant.refused(409, 'endpoint uid already exists: accounting', ({ webhooks }) =>
        webhooks.endpoints.update({ id, body: { uid: 'accounting' } }),
      );
    });
  });

  describe('disable and enable', () => {
    it('200 with the endpoint', async () => {
      const tenant = api.tenant();
      const { id } = await newEndpoint(tenant);
      const { endpoints } = tenant.plinth.webhooks;
      expect(await endpoints.disable({ id })).toMatchObject({ enabled: false, disabled_reason: 'manual' });
      expect(await endpoints.enable({ id })).toMatchObject({ enabled: true, disabled_reason: null });
    });
  });

  describe('rotateSecret', () => {
    it('200 with the new secret, not to be stored on the way', async () => {
      const tenant = api.tenant();
      const { id, secret } = await newEndpoint(tenant);
      const { data, response } = await tenant.plinth.webhooks.endpoints.rotateSecret({ id }).response();
      expect(data.secret).toMatch(/^whsec_/);
      expect(data.secret).not.toBe(secret);
      expect(data.previous_valid_until).not.toBeNull();
      expect(response.headers.get('cache-control')).toBe('no-store');
    });
  });

  describe('secret', () => {
    it('200 with the secret, not to be stored on the way', async () => {
      const tenant = api.tenant();
      const { id, secret } = await newEndpoint(tenant);
      const { data, response } = await tenant.plinth.webhooks.endpoints.secret({ id }).response();
      expect(data).toEqual({ secret });
      expect(response.headers.get('cache-control')).toBe('no-store');
    });

    it('403 for a key that only reads', async () => {
      const tenant = api.tenant();
      const { id } = await newEndpoint(tenant);
      const key = await tenant.withKey(['webhooks:read']);
      await key.refused(403, /scope/, ({ webhooks }) => webhooks.endpoints.secret({ id }));
    });
  });

  describe('test', () => {
    it('201 with the delivery of the test event', async () => {
      const tenant = api.tenant();
      const { id } = await newEndpoint(tenant);
      const { data, response } = await tenant.plinth.webhooks.endpoints.test({ id }).response();
      expect(response.status).toBe(201);
      expect(data).toMatchObject({ endpoint_id: id, max_attempts: 1, state: 'pending' });
    });

    it('409 when the idempotency key was used for another endpoint', async () => {
      const tenant = api.tenant();
      const [one, other] = [await newEndpoint(tenant), await newEndpoint(tenant)];
      const once = { idempotencyKey: 'once' };
      await tenant.plinth.webhooks.endpoints.test({ id: one.id }, once);
      await tenant.refused(409, usedBefore, ({ webhooks }) =>
        webhooks.endpoints.test({ id: other.id }, once),
      );
    });
  });

  describe('delete', () => {
    it('204', async () => {
      const tenant = api.tenant();
      const { id } = await newEndpoint(tenant);
      await tenant.plinth.webhooks.endpoints.delete({ id });
    });
  });

  const methods = ['get', 'enable', 'disable', 'rotateSecret', 'secret', 'test', 'delete'] as const;
  describe.each(methods)('%s', (method) => {
    it('404 when it does not exist', () =>
      api.tenant().refused(404, notFound, async ({ webhooks }) => {
        await webhooks.endpoints[method]({ id: absent.endpoint });
      }));
  });
});

behaviour('Endpoints', (api) => {
  it('another tenant reaches neither the id nor the uid', async () => {
    const tenant = api.tenant();
    const { id } = await newEndpoint(tenant, { uid: 'accounting' });
    const stranger = await api.tenant().withKey(['webhooks:*']);
    for (const ref of [id, 'accounting'])
      await stranger.refused(404, notFound, ({ webhooks }) => webhooks.endpoints.get({ id: ref }));
    expect(await stranger.plinth.webhooks.endpoints.list()).toEqual([]);
  });

  it('the uid of a deleted endpoint is free again', async () => {
    const tenant = api.tenant();
    const { id } = await newEndpoint(tenant, { uid: 'accounting' });
    await tenant.plinth.webhooks.endpoints.delete({ id });
    const next = await newEndpoint(tenant, { uid: 'accounting' });
    expect((await tenant.plinth.webhooks.endpoints.get({ id: 'accounting' })).id).toBe(next.id);
  });

  it('a secret header is masked, and the mask keeps its value', async () => {
    const tenant = api.tenant();
    const { id } = await newEndpoint(tenant, { headers: { Authorization: 'Bearer abc', 'X-Region': 'eu' } });
    const { endpoints } = tenant.plinth.webhooks;
    const shown = { Authorization: '********', 'X-Region': 'eu' };
    expect((await endpoints.get({ id })).headers).toEqual(shown);
    expect((await endpoints.update({ id, body: { headers: shown } })).headers).toEqual(shown);
    await tenant.refused(400, 'headers: X-Api-Key has no stored value to keep', ({ webhooks }) =>
      webhooks.endpoints.update({ id, body: { headers: { 'X-Api-Key': '********' } } }),
    );
  });

  it('a disabled endpoint receives no new events', async () => {
    const tenant = api.tenant();
    const { name } = await newType(api);
    const { id } = await newEndpoint(tenant, { event_types: [name] });
    await tenant.plinth.webhooks.endpoints.disable({ id });
    expect((await send(tenant, name)).delivery_count).toBe(0);
    await tenant.plinth.webhooks.endpoints.enable({ id });
    expect((await send(tenant, name)).delivery_count).toBe(1);
  });

  it('the list of those that are enabled is walked by cursor', async () => {
    const tenant = api.tenant();
    const ids = [];
    for (let count = 0; count < 3; count++) ids.unshift((await newEndpoint(tenant)).id);
    await newEndpoint(tenant, { enabled: false, description: newName() });
    const met = [];
    for await (const { id } of tenant.plinth.webhooks.endpoints.list({ enabled: true, limit: 2 }))
      met.push(id);
    expect(met).toEqual(ids);
  });
});
