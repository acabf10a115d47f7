import { afterAll, beforeAll, expect, test } from 'vitest';
import { serviceNames } from './app.ts';
import { testServer, type TestServer } from './testing/server.ts';

/** These receive all events at once, and events that every consumer has received are deleted. */
const consumers = ['audit', 'webhooks'];
const served = serviceNames.filter((name) => !consumers.includes(name));

let server: TestServer;
beforeAll(async () => {
  server = await testServer({ services: served, strict: false });
});
afterAll(() => server.close());

/** The services that have an outbox, whether or not something prunes it. That of the jobs belongs to the engine. */
async function withOutbox(): Promise<string[]> {
  const tables = await server.db.sql<{ name: string }[]>`
    select table_schema as name from information_schema.tables where table_name = 'outbox' order by 1`;
  return tables.map(({ name }) => name);
}

const write = (service: string, id: string, days: number) => server.db.sql`
  insert into ${server.db.sql(`${service}.outbox`)} (tenant_id, id, type, subject, app_id, actor, data, time)
  values ('acme', ${id}, 'made.up', 'x', 'default', 'root', '{}', now() - ${days} * interval '1 day')`;

async function left(service: string): Promise<string[]> {
  const rows = await server.db.sql<{ id: string }[]>`
    select id from ${server.db.sql(`${service}.outbox`)} where tenant_id = 'acme' order by id`;
  return rows.map(({ id }) => id);
}

/** Returns the sweeps of outboxes that have finished a run and wait for the next one. */
async function rested(): Promise<string[]> {
  const leases = await server.db.sql<{ name: string }[]>`
    select name from jobs.sweep where name like '%.outbox' and due_at > now() + interval '1 minute' order by 1`;
  return leases.map(({ name }) => name);
}

test('a server prunes the outbox of every service that has one', async () => {
  const services = await withOutbox();
  expect(services).toEqual([...served].sort());
  await expect.poll(rested).toEqual(services.map((service) => `${service}.outbox`));
  for (const service of services) {
    await write(service, 'old', 8);
    await write(service, 'young', 6);
  }
  await server.db.sql`update jobs.sweep set due_at = now()`;
  await server.restart();
  for (const service of services) await expect.poll(() => left(service)).toEqual(['young']);
});
