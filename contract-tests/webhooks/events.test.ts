import { describe, expect, it } from 'vitest';
import { behaviour, contract } from '../harness.ts';
import { absent, newEndpoint, newName, newType, send, tooLarge, usedBefore } from './hooks.ts';

const data = { invoice_id: 'inv_01khgbwb6gfcvt5fwr9s2r6n64', amount: 4900 };
const schema = { type: 'object', properties: { amount: { type: 'integer' } } };

contract('Events', (api) => {
  describe('create', () => {
    it('201 with the event', async () => {
      const { name } = await newType(api);
      const { data: event, response } = await api
        .tenant()
        .plinth.webhooks.events.create({ body: { type: name, data } })
        .response();
      // The mock answers with the first documented status.
      expect(response.status).toBe(api.target === 'mock' ? 200 : 201);
      expect(event).toMatchObject({ type: name, data });
    });

    it('200 with the first event when its idempotency key is repeated', async () => {
      const { name } = await newType(api);
      const { events } = api.tenant().plinth.webhooks;
      const body = { type: name, data, idempotency_key: 'inv-4711-paid' };
      const first = await events.create({ body });
      const { data: again, response } = await events.create({ body: { ...body, data: {} } }).response();
      expect(response.status).toBe(200);
      expect(again).toEqual({ ...first, delivery_count: again.delivery_count });
    });

    it('400 when its data do not match the schema', async () => {
      const { name } = await newType(api, { schema });
      const message = `data does not match the schema of ${name}: /amount must be integer`;
      await api
        .tenant()
        .refused(400, message, ({ webhooks }) =>
          webhooks.events.create({ body: { type: name, data: { amount: 'a lot' } } }),
        );
    });

    it('403 for another tenant', async () => {
      const key = await api.tenant().withKey(['webhooks:write']);
      await key.refused(403, "tenant_id: not the caller's own", ({ webhooks }) =>
        webhooks.events.create({ body: { type: 'invoice.paid', tenant_id: 'another' } }),
      );
    });

    it('404 when its type does not exist', () =>
      api
        .tenant()
        .refused(404, `event type not found: ${absent.type}`, ({ webhooks }) =>
          webhooks.events.create({ body: { type: absent.type } }),
        ));

    it('409 when the Idempotency-Key was used with another body', async () => {
      const { name } = await newType(api);
      const tenant = api.tenant();
      const once = { idempotencyKey: 'once' };
      await tenant.plinth.webhooks.events.create({ body: { type: name } }, once);
      await tenant.refused(409, usedBefore, ({ webhooks }) =>
        webhooks.events.create({ body: { type: name, data } }, once),
      );
    });

    it('413 when its data are too large', async () => {
      const { name } = await newType(api);
      await api
        .tenant()
        .refused(413, 'data: larger than 262144 bytes', ({ webhooks }) =>
          webhooks.events.create({ body: { type: name, data: tooLarge } }),
        );
    });
  });

  describe('createBatch', () => {
    it('200 with what became of each event', async () => {
      const { name } = await newType(api);
      const events = [{ type: name, data }, { type: 'invoice.unknown' }];
      const { results } = await api.tenant().plinth.webhooks.events.createBatch({ body: { events } });
      expect(results).toMatchObject([
        { status: 201, error: null },
        { status: 404, event: null, error: 'event type not found: invoice.unknown' },
      ]);
    });

    it('403 as a whole when one of them names another tenant', async () => {
      const key = await api.tenant().withKey(['webhooks:write']);
      const events = [{ type: 'invoice.paid' }, { type: 'invoice.paid', tenant_id: 'another' }];
      await key.refused(403, "events[1].tenant_id: not the caller's own", ({ webhooks }) =>
        webhooks.events.createBatch({ body: { events } }),
      );
    });

    it('409 when the Idempotency-Key was used with another body', async () => {
      const tenant = api.tenant();
      const once = { idempotencyKey: 'once' };
      const batch = (type: string) => ({ body: { events: [{ type }] } });
      await tenant.plinth.webhooks.events.createBatch(batch('a.b'), once);
      await tenant.refused(409, usedBefore, ({ webhooks }) =>
        webhooks.events.createBatch(batch('a.c'), once),
      );
    });
  });

  describe('list', () => {
    it('200 with the events of the tenant', async () => {
      const { name } = await newType(api);
      const tenant = api.tenant();
      const { id } = await send(tenant, name);
      expect((await tenant.plinth.webhooks.events.list({ type: name })).map((event) => event.id)).toEqual([
        id,
      ]);
    });
  });

  describe('get', () => {
    it('200 with the event', async () => {
      const { name } = await newType(api);
      const tenant = api.tenant();
      const { id } = await send(tenant, name, { data });
      expect(await tenant.plinth.webhooks.events.get({ id })).toMatchObject({ id, data });
    });
  });

  describe('deliveries', () => {
    it('200 with a delivery for every endpoint that matches', async () => {
      const { name } = await newType(api);
      const tenant = api.tenant();
      const endpoint = await newEndpoint(tenant, { event_types: [name] });
      const { id } = await send(tenant, name);
      const deliveries = await tenant.plinth.webhooks.events.deliveries({ id });
      expect(deliveries).toMatchObject([{ event_id: id, endpoint_id: endpoint.id }]);
    });
  });

  describe.each(['get', 'deliveries'] as const)('%s', (method) => {
    it('404 when it does not exist', () =>
      api.tenant().refused(404, 'event not found', async ({ webhooks }) => {
        await webhooks.events[method]({ id: absent.event });
      }));
  });
});

behaviour('Events', (api) => {
  it('reach the endpoints of their tenant whose pattern and channel match', async () => {
    const tenant = api.tenant();
    const { name } = await newType(api);
    const [prefix] = name.split('.');
    await newEndpoint(tenant, { event_types: [`${prefix!}.*`], channels: ['project-7'] });
    await newEndpoint(tenant, { event_types: [name, '*'] });
    await newEndpoint(tenant, { event_types: [`${name}.later`] });
    await newEndpoint(api.tenant(), { event_types: [name] });
    expect((await send(tenant, name)).delivery_count).toBe(1);
    expect((await send(tenant, name, { channels: ['project-7'] })).delivery_count).toBe(2);
  });

  it('of equal keys in a batch, the first one makes the event', async () => {
    const { name: type } = await newType(api);
    const events = [1, 2].map((amount) => ({ type, data: { amount }, idempotency_key: 'inv-1' }));
    const { results } = await api.tenant().plinth.webhooks.events.createBatch({ body: { events } });
    expect(results.map(({ status }) => status)).toEqual([201, 200]);
    expect(results[1]?.event).toEqual(results[0]?.event);
  });

  it('the operator sends one for a tenant, which is the only one to see it', async () => {
    const tenant = api.tenant();
    const { name } = await newType(api);
    const { id } = await send(api.operator(), name, { tenant_id: tenant.id });
    expect(await tenant.plinth.webhooks.events.get({ id })).toMatchObject({ tenant_id: tenant.id });
    await api
      .tenant()
      .withKey(['webhooks:*'])
      .then((key) => key.refused(404, 'event not found', ({ webhooks }) => webhooks.events.get({ id })));
  });

  it('a walk over the list meets every event once, newest first', async () => {
    const tenant = api.tenant();
    const { name } = await newType(api);
    const ids = [];
    for (let count = 0; count < 5; count++) ids.unshift((await send(tenant, name)).id);
    const met = [];
    for await (const { id } of tenant.plinth.webhooks.events.list({ limit: 2 })) met.push(id);
    expect(met).toEqual(ids);
  });

  it('data that parsing would change are refused', async () => {
    const { name } = await newType(api, { description: newName() });
    const response = await api.tenant().fetch('/webhooks/events', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: `{"type":"${name}","data":{"amount":12345678901234567890}}`,
    });
    expect(response.status).toBe(400);
  });
});
