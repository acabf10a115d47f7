import { afterAll, beforeAll, expect, it } from 'vitest';
import type { AuditEvent } from '../../../../generated/audit/types.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { tools } from '../testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['keys', 'jobs', 'audit'] });
  api = tools(server);
});
afterAll(() => server.close());

const acme = { headers: { 'X-Tenant-ID': 'acme', 'X-Request-ID': 'request-of-the-test' } };
const eventsOf = async (query: string): Promise<AuditEvent[]> => (await api.list(query, acme)).events;

it('what the other services do is recorded once, in the chain of the tenant', async () => {
  const policy = await server.request('POST', '/keys/v1/policies', { ...acme, body: { name: 'Partners' } });
  const path = `/keys/v1/policies/${policy.body.id}`;
  await server.request('PUT', path, { ...acme, body: { rate_limit: 5 } });
  await server.request('DELETE', path, acme);
  const job = await server.request('POST', '/jobs/v1/jobs', { ...acme, body: { name: 'n', delay: '1h' } });
  await server.request('POST', `/jobs/v1/jobs/${job.body.id}/cancel`, acme);
  await expect
    .poll(async () => (await eventsOf('?category=access,system')).length, { timeout: 30_000 })
    .toBeGreaterThanOrEqual(4);
  const events = await eventsOf('?category=access&order=asc');
  expect(events.map(({ action }) => action)).toEqual(['policy.created', 'policy.updated', 'policy.deleted']);
  expect(events[1]).toMatchObject({
    ...{ tenant_id: 'acme', app_id: 'default', source: 'keys', recorded_by: 'relay' },
    ...{ resource: 'policy', resource_id: policy.body.id, subject_id: 'tenant:acme', actor_type: 'system' },
    metadata: { source: '/keys', request_id: 'request-of-the-test', data: { fields: ['rate_limit'] } },
  });
  expect(await eventsOf(`?resource_id=${job.body.id}`)).toMatchObject([
    { action: 'job.cancelled', category: 'system', source: 'jobs' },
  ]);
});

it('an event that comes again is not recorded again', async () => {
  const count = async () => (await api.list('?limit=1', acme)).total;
  const before = await count();
  // As if the process had died after recording and before noting it.
  await server.db.sql`
    insert into keys.outbox (tenant_id, id, type, subject, app_id, actor, data, time)
    values ('acme', 'evt_01kfd8cst0f4ebfc0tywvtbr3d', 'keys.policy.created', 'again', 'default', 'root', '{}', now())`;
  await expect.poll(count, { timeout: 30_000 }).toBe(before + 1);
  await server.db.sql`delete from keys.outbox where subject = 'again'`;
  await server.db.sql`
    insert into keys.outbox (tenant_id, id, type, subject, app_id, actor, data, time)
    values ('acme', 'evt_01kfd8cst0f4ebfc0tywvtbr3d', 'keys.policy.created', 'again', 'default', 'root', '{}', now())`;
  await server.request('POST', '/keys/v1/policies', { ...acme, body: { name: 'Later' } });
  await expect.poll(count, { timeout: 30_000 }).toBe(before + 2);
  expect(await eventsOf('?resource_id=again')).toHaveLength(1);
  expect(await api.verify({}, acme)).toMatchObject({ valid: true });
});

it('the service does not record its own events twice', async () => {
  await api.send('POST', '/erasures', { ...acme, body: { subject_id: 'x', reason: 'y', requested_by: 'z' } });
  await server.request('POST', '/keys/v1/policies', { ...acme, body: { name: 'After' } });
  await expect
    .poll(async () => (await eventsOf('?action=policy.created')).length, { timeout: 30_000 })
    .toBeGreaterThanOrEqual(3);
  expect((await eventsOf('?action=erasure.completed')).map(({ category }) => category)).toEqual(['audit']);
});
