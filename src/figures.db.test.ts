import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { pino } from 'pino';
import { createEngine } from './db/engine/index.ts';
import { metricsOf } from './testing/metrics.ts';
import { testServer, type TestServer } from './testing/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await testServer({ services: ['authz', 'keys'] });
});
afterAll(() => server.close());

test('tells of connections, queues, background work, backlog and the database', async () => {
  await server.request('POST', '/keys/v1/keys', { body: { name: 'Reports' } });
  // A sweep runs soon after startup.
  const name = 'plinth_background_succeeded_timestamp_seconds';
  await expect
    .poll(async () => [...(await metricsOf(server)).keys()].filter((key) => key.startsWith(name)).length)
    .toBeGreaterThan(0);
  const found = await metricsOf(server);
  // The only request in flight is this scrape.
  expect(found.get('plinth_http_requests_in_flight')).toBe(1);
  expect(found.get('plinth_requests_waiting')).toBe(0);
  expect(found.get('plinth_database_connections{pool="statements"}')).toBeGreaterThan(0);
  expect(found.get('plinth_database_connections{pool="transactions"}')).toBeGreaterThan(0);
  expect(found.get('plinth_database_waiting{pool="transactions"}')).toBe(0);
  expect(found.get('plinth_database_bytes')).toBeGreaterThan(1_000_000);
  expect(found.get('plinth_outbox_events{service="keys"}')).toBeGreaterThanOrEqual(0);
  // Both are on the same machine, so the clocks agree up to the time of the query.
  expect(Math.abs(found.get('plinth_database_clock_ahead_seconds')!)).toBeLessThan(60);
  const queues = [...found].filter(([key]) => key.startsWith('plinth_queue_'));
  expect(queues).toEqual(
    ['running', 'waiting', 'refused_total'].map((what) => [`plinth_queue_${what}{queue="keys.usage"}`, 0]),
  );
  const runs = [...found].filter(([key]) => key.startsWith('plinth_background_runs_total'));
  expect(runs.every(([, value]) => value > 0)).toBe(true);
  expect(found.has('plinth_database_connections{pool="background"}')).toBe(inject('engine') === 'postgres');
});

test("tells of the jobs in the platform's own queues, and of nobody else's", async () => {
  const engine = createEngine({ db: server.db, log: pino({ level: 'silent' }), settings: { engine: 'off' } });
  await engine.enqueue([
    ...[1, 2, 3].map(() => ({ name: 'n', queue: 'plinth.billing' })),
    { name: 'n', queue: 'plinth.agent', delay: '1h' },
    { name: 'n', queue: 'plinths', tenant: 'acme', app: 'a' },
  ]);
  await engine.stop();
  await server.db.sql`
    update jobs.job set state = 'running', lease_id = (select id from jobs.lease), started_at = now()
    where id = (select max(id) from jobs.job where queue = 'plinth.billing')`;
  await server.db
    .sql`update jobs.job set run_at = now() - interval '1 minute' where queue = 'plinth.billing'`;
  const found = await metricsOf(server);
  expect([...found].filter(([key]) => key.startsWith('plinth_jobs{'))).toEqual([
    ['plinth_jobs{queue="plinth.agent",state="pending"}', 1],
    ['plinth_jobs{queue="plinth.billing",state="pending"}', 2],
    ['plinth_jobs{queue="plinth.billing",state="running"}', 1],
  ]);
  expect(found.get('plinth_jobs_oldest_seconds{queue="plinth.agent"}')).toBe(0);
  expect(found.get('plinth_jobs_oldest_seconds{queue="plinth.billing"}')).toBeGreaterThanOrEqual(60);
  expect(found.get('plinth_jobs_leases_lost_total')).toBe(0);
});

test('tells how far the consumers of events are, when there are any', async () => {
  const before = await metricsOf(server);
  expect([...before.keys()].filter((key) => key.startsWith('plinth_relay_'))).toEqual([]);
  await server.db
    .sql`insert into plinth.relay_outboxes (service, last_number) values ('keys', 7), ('authz', 2)`;
  await server.db.sql`
    insert into plinth.relay_positions (service, consumer, reached) values ('keys', 'audit', 3), ('authz', 'audit', 2)`;
  await server.db.sql`
    insert into plinth.relay_held (service, consumer, tenant_id, subject, number, retry_at)
    values ('keys', 'audit', 'acme', 'key_1', 1, now())`;
  await server.db.sql`update keys.outbox set time = now() - interval '1 hour'`;
  const found = await metricsOf(server);
  const of = (name: string, service: string) =>
    found.get(`plinth_relay_${name}{service="${service}",consumer="audit"}`);
  expect(['waiting', 'held_subjects', 'held_tenants'].map((name) => of(name, 'keys'))).toEqual([4, 1, 0]);
  expect(of('oldest_seconds', 'keys')).toBeGreaterThanOrEqual(3_600);
  expect(['waiting', 'held_subjects', 'oldest_seconds'].map((name) => of(name, 'authz'))).toEqual([0, 0, 0]);
});

test('the log names the trace of a request', async () => {
  const lines: string[] = [];
  const logged = await testServer({ services: ['keys'], log: { write: (line) => void lines.push(line) } });
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  const send = (traceparent: string) =>
    logged.request('GET', '/keys/v1/keys', { headers: { traceparent, 'x-request-id': traceparent } });
  const good = `00-${traceId}-00f067aa0ba902b7-01`;
  const bad = [`00-${'0'.repeat(32)}-00f067aa0ba902b7-01`, `ff-${traceId}-00f067aa0ba902b7-01`, 'nonsense'];
  for (const traceparent of [good, ...bad]) await send(traceparent);
  const traced = () =>
    lines
      .map((line) => JSON.parse(line) as { msg: string; requestId?: string; traceId?: string })
      .filter(({ msg }) => msg === 'request')
      .map((line) => [line.requestId, line.traceId]);
  await expect.poll(() => traced().length).toBe(4);
  expect(traced()).toEqual([[good, traceId], ...bad.map((one) => [one, undefined])]);
  await logged.close();
});
