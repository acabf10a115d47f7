import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { behaviour, contract } from '../harness.ts';
import { absent, deadLetter, failing, newEndpoint, newType, send } from './hooks.ts';

contract('Deliveries', (api) => {
  describe('list', () => {
    it('200 with the deliveries to the endpoint', async () => {
      const tenant = api.tenant();
      const { id, endpoint_id } = await failing(api, tenant);
      const deliveries = await tenant.plinth.webhooks.deliveries.list({ id: endpoint_id });
      expect(deliveries).toMatchObject([{ id, endpoint_id }]);
    });

    it('404 when the endpoint does not exist', () =>
      api
        .tenant()
        .refused(
          404,
          'endpoint not found',
          async ({ webhooks }) => await webhooks.deliveries.list({ id: absent.endpoint }),
        ));
  });

  describe('listAll', () => {
    it('200 with the deliveries of the tenant', async () => {
      const tenant = api.tenant();
      const { id, event_type } = await failing(api, tenant);
      const deliveries = await tenant.plinth.webhooks.deliveries.listAll({ event_type, state: 'pending' });
      expect(deliveries.map((delivery) => delivery.id)).toEqual([id]);
    });
  });

  describe('get', () => {
    it('200 with the delivery', async () => {
      const tenant = api.tenant();
      const { id, event_id } = await failing(api, tenant);
      expect(await tenant.plinth.webhooks.deliveries.get({ id })).toMatchObject({ id, event_id });
    });
  });

  describe('attempts', () => {
    it('200 with the attempts, oldest first', async () => {
      const tenant = api.tenant();
      const { id } = await failing(api, tenant);
      const [first] = await tenant.plinth.webhooks.deliveries.attempts({ id });
      expect(first).toMatchObject({ delivery_id: id, attempt: 1, outcome: 'retry' });
    });
  });

  describe('retry', () => {
    it('200 with the delivery, which is due', async () => {
      const tenant = api.tenant();
      const { id } = await failing(api, tenant);
      expect(await tenant.plinth.webhooks.deliveries.retry({ id })).toMatchObject({ id, state: 'pending' });
    });

    it('400 when it has ended', async () => {
      const tenant = api.tenant();
      const letter = await tenant.plinth.webhooks.dlq.get({ id: await deadLetter(api, tenant) });
      await tenant.refused(400, 'delivery is not pending', ({ webhooks }) =>
        webhooks.deliveries.retry({ id: letter.delivery_id }),
      );
    });
  });

  describe.each(['get', 'attempts', 'retry'] as const)('%s', (method) => {
    it('404 when it does not exist', () =>
      api.tenant().refused(404, 'delivery not found', async ({ webhooks }) => {
        await webhooks.deliveries[method]({ id: absent.delivery });
      }));
  });
});

behaviour('Deliveries', (api) => {
  const received: { headers: IncomingMessage['headers']; body: string }[] = [];
  const receiver = createServer((request, response) => {
    void text(request).then((body) => {
      received.push({ headers: request.headers, body });
      response.writeHead(204).end();
    });
  });
  let url: string;
  beforeAll(async () => {
    receiver.listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/plinth`;
  });
  afterAll(async () => {
    receiver.close();
    receiver.closeAllConnections();
    await once(receiver, 'close');
  });

  it('carry the data byte for byte, signed with the secret that the endpoint was created with', async () => {
    const tenant = api.tenant();
    const { name } = await newType(api);
    const { secret } = await newEndpoint(tenant, { url, event_types: [name], payload_format: 'data' });
    const sent = await tenant.fetch('/webhooks/events', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: `{"type":"${name}","data":{"b": 1.50, "a":"\\u00e9"}}`,
    });
    const { id } = (await sent.json()) as { id: string };
    await expect.poll(() => received.find(({ headers }) => headers['webhook-id'] === id)).toBeDefined();
    const { headers, body } = received.find((one) => one.headers['webhook-id'] === id)!;
    expect(body).toMatch(/1\.50/);
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
    const signed = `${id}.${String(headers['webhook-timestamp'])}.${body}`;
    const signature = createHmac('sha256', key).update(signed).digest('base64');
    expect(headers['webhook-signature']).toBe(`v1,${signature}`);
    const ended = async () => (await tenant.plinth.webhooks.events.deliveries({ id }))[0]?.state;
    await expect.poll(ended).toBe('delivered');
  });

  it('the list by state and endpoint has only those', async () => {
    const tenant = api.tenant();
    const { name } = await newType(api);
    await newEndpoint(tenant, { url, event_types: [name], uid: 'hears' });
    const deaf = await newEndpoint(tenant, { event_types: [name], uid: 'deaf' });
    await send(tenant, name);
    const { deliveries } = tenant.plinth.webhooks;
    await expect.poll(async () => await deliveries.listAll({ state: 'delivered' })).toHaveLength(1);
    expect(await deliveries.listAll({ endpoint_id: 'deaf' })).toMatchObject([{ endpoint_id: deaf.id }]);
    expect(await deliveries.list({ id: 'hears', state: 'failed' })).toEqual([]);
    expect(await deliveries.listAll()).toHaveLength(2);
  });
});
