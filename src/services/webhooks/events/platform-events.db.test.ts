import { afterAll, beforeAll, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { type Receiver, startReceiver } from '../dispatch/testing/receiver.ts';
import { tools } from '../testing.ts';

let server: TestServer;
let receiver: Receiver;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['keys', 'jobs', 'webhooks'] });
  receiver = await startReceiver();
  api = tools(server);
});
afterAll(async () => {
  await server.close();
  await receiver.close();
});

const acme = { tenant: 'acme' };
const bodies = () => receiver.received.map(({ body }) => JSON.parse(body) as { type: string; data: object });

it('tenants get the events of all services to which they subscribe, in order, without registration', async () => {
  await api.endpoint({ url: receiver.url, event_types: ['keys.policy.*', 'jobs.*'], ordered: true }, acme);
  const policy = await server.request('POST', '/keys/v1/policies', { ...acme, body: { name: 'Partners' } });
  const path = `/keys/v1/policies/${policy.body.id}`;
  await server.request('PUT', path, { ...acme, body: { rate_limit: 5 } });
  await server.request('DELETE', path, acme);
  const job = await server.request('POST', '/jobs/v1/jobs', { ...acme, body: { name: 'n', delay: '1h' } });
  await server.request('POST', `/jobs/v1/jobs/${job.body.id}/cancel`, acme);
  // What other tenants do is none of its business.
  await server.request('POST', '/keys/v1/policies', { tenant: 'bolt', body: { name: 'Partners' } });
  await expect.poll(() => receiver.received.length, { timeout: 20_000 }).toBe(4);
  const types = bodies().map(({ type }) => type);
  expect(types.filter((type) => type.startsWith('keys.'))).toEqual([
    'keys.policy.created',
    'keys.policy.updated',
    'keys.policy.deleted',
  ]);
  expect(types).toContain('jobs.job.cancelled');
  expect(bodies().find(({ type }) => type === 'keys.policy.updated')!.data).toEqual({
    fields: ['rate_limit'],
  });
  const [event] = await api.send('GET', '/events?type=keys.policy.created', acme);
  expect(event).toMatchObject({ tenant_id: 'acme', order_key: policy.body.id, delivery_count: 1 });
  expect(event.idempotency_key).toMatch(/^\/keys#evt_/);
  expect(await api.send('GET', '/events', { tenant: 'bolt' })).toEqual([]);
});
