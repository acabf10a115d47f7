import { afterAll, beforeAll, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../testing/server.ts';

let server: TestServer;
const tenant = 'large';
const count = 150;
/** As large as a value may be; all of them together are larger than a page. */
const large = JSON.stringify({ text: 'x'.repeat(65_000) });
const runId = `wfrun_${'0'.repeat(26)}`;

beforeAll(async () => {
  server = await testServer({ services: ['jobs'] });
  const { sql } = server.db;
  const id = (prefix: string) => sql`${prefix}::text || lpad(to_hex(nth), 26, '0')`;
  const rows = sql`from generate_series(1, ${count}::integer) as nth`;
  const backoff = sql`60000, 'fixed', 1000, 1000`;
  await sql`
    insert into jobs.run (tenant_id, id, app_id, name, version, state, input, output, job_id, completed_at)
    select ${tenant}, ${id('wfrun_')}, 'default', 'n', 1, 'completed', '{}', ${large}::text::json, ${id('job_')}, now() ${rows}`;
  await sql`
    insert into jobs.run (tenant_id, id, app_id, name, version, state, input, job_id)
    values ('stepping', ${runId}, 'default', 'n', 1, 'running', '{}', ${runId.replace('wfrun_', 'job_')})`;
  await sql`
    insert into jobs.step (tenant_id, run_id, name, seq, state, output, started_at, completed_at)
    select 'stepping', ${runId}, 's' || nth, nth, 'completed', ${large}::text::json, now(), now() ${rows}`;
  await sql`
    insert into jobs.cron (
      tenant_id, id, app_id, name, schedule, timezone, enabled, job_name, queue, payload, tags, rank, max_attempts, timeout_ms,
      backoff_type, backoff_delay_ms, backoff_max_ms, misfire, overlap
    )
    select ${tenant}, ${id('cron_')}, 'default', 'c' || nth, '0 0 * * *', 'UTC', false, 'n', 'q', ${large}::text::json, '{}', 0, 5, ${backoff},
      'once', 'allow' ${rows}`;
  await sql`
    insert into jobs.dlq (
      tenant_id, id, app_id, job_id, job_name, queue, error, payload, tags, rank, attempt, max_attempts, timeout_ms, backoff_type,
      backoff_delay_ms, backoff_max_ms
    )
    select ${tenant}, ${id('dlq_')}, 'default', ${id('job_')}, 'n', 'q', 'e', ${large}::text::json, '{}', 0, 5, 5, ${backoff} ${rows}`;
});
afterAll(() => server.close());

it.each([
  ['/workflows/runs', 'id', tenant],
  [`/workflows/runs/${runId}/steps`, 'name', 'stepping'],
  ['/crons', 'id', tenant],
  ['/dlq', 'id', tenant],
])('pages of %s are shorter when the records are large', async (path, key, owner) => {
  const read = (query: string) =>
    server.request('GET', `/jobs/v1${path}?limit=1000${query}`, { tenant: owner });
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
