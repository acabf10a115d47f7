import { afterAll, beforeAll, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../testing/server.ts';

let server: TestServer;
const count = 60;

beforeAll(async () => {
  server = await testServer({ services: ['webhooks'] });
  const { sql } = server.db;
  const json = (kibibytes: number) => JSON.stringify({ text: 'x'.repeat(kibibytes * 1_024) });
  const id = (prefix: string) => sql`${prefix}::text || lpad(to_hex(nth), 26, '0')`;
  const rows = sql`from generate_series(1, ${count}::integer) as nth`;
  await sql`
    insert into webhooks.event (tenant_id, id, app_id, type, data, channels, delivery_count, created_at)
    select 'default', ${id('evt_')}, 'default', 't', ${json(250)}::text::json, '{}', 1, now() ${rows}`;
  await sql`
    insert into webhooks.dlq (
      tenant_id, id, app_id, delivery_id, event_id, endpoint_id, event_type, url, payload, error, attempt_count
    )
    select 'default', ${id('dlq_')}, 'default', ${id('del_')}, ${id('evt_')}, ${id('ep_')}, 't', 'https://a.example/', ${json(250)}::text::json,
      'e', 1 ${rows}`;
  // Larger than an event type can be, so that there need not be more of them than a page may have.
  await sql`
    insert into webhooks.event_type (app_id, name, description, "group", version, schema, example)
    select 'default', 't' || nth, '', 't', '1', ${json(125)}::text::json, ${json(125)}::text::json ${rows}`;
});
afterAll(() => server.close());

it.each([
  ['/events', 'id'],
  ['/dlq', 'id'],
  ['/event-types', 'name'],
])('pages of %s are shorter when the records are large', async (path, key) => {
  const read = (query: string) => server.request('GET', `/webhooks${path}?limit=100${query}`);
  const page = await read('');
  expect(page.body.length).toBeLessThan(count);
  expect(page.text.length).toBeGreaterThan(8 * 1_024 * 1_024);
  expect(page.text.length).toBeLessThan(9 * 1_024 * 1_024);
  const rest = await read(`&cursor=${encodeURIComponent(page.headers.get('x-next-cursor')!)}`);
  const seen = [...page.body, ...rest.body].map((one: Record<string, string>) => one[key]);
  expect(new Set(seen).size).toBe(count);
  expect(seen).toHaveLength(count);
  expect(rest.headers.get('x-next-cursor')).toBeNull();
});
