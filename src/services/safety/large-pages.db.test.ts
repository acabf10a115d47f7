import { afterAll, beforeAll, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../testing/server.ts';
import { until } from '../../testing/until.ts';
import { tools } from './testing.ts';

let server: TestServer;
const count = 20;
const text = 'x'.repeat(1_024 * 1_024);

beforeAll(async () => {
  // A description is larger here than it may be, so that few rules are enough.
  server = await testServer({ services: ['safety'], strict: false });
  const { sql } = server.db;
  const { create, scanInput, send } = tools(server);
  const { id: scan } = await scanInput('Good morning');
  const { id: rule } = await create('instincts');
  await until(async () => (await send('GET', '/scans')).length === 1);
  const copy = (prefix: string) => sql`${prefix}::text || lpad(to_hex(nth), 26, '0')`;
  const rows = sql`cross join generate_series(1, ${count - 1}::integer) as nth`;
  const enlarged = (member: string) =>
    sql`(body::jsonb || jsonb_build_object(${member}::text, ${text}::text))::json`;
  await sql`update safety.scan set body = ${enlarged('redacted')} where id = ${scan}`;
  await sql`update safety.rule set body = ${enlarged('description')} where id = ${rule}`;
  await sql`
    insert into safety.scan (tenant_id, id, direction, decision, user_id, profile_used, body)
    select tenant_id, ${copy('scan_')}, direction, decision, user_id, profile_used, body from safety.scan ${rows}`;
  await sql`
    insert into safety.rule (app_id, kind, id, name, enabled, facets, refs, body, keywords, expressions, instructions, revision)
    select app_id, kind, ${copy(rule.replace(/_.*/, '_'))}, name || nth, enabled, facets, refs, body, keywords, expressions, instructions, revision
    from safety.rule ${rows}`;
});
afterAll(() => server.close());

it.each(['/scans', '/instincts'])('pages of %s are shorter when the records are large', async (path) => {
  const read = (query: string) => server.request('GET', `/safety/v1${path}?limit=200${query}`);
  const seen: string[] = [];
  let pages = 0;
  for (let cursor: string | null = ''; cursor !== null; pages++) {
    const page = await read(cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`);
    expect(page.text.length).toBeLessThan(10 * 1_024 * 1_024);
    seen.push(...page.body.map(({ id }: { id: string }) => id));
    cursor = page.headers.get('x-next-cursor');
  }
  expect(pages).toBe(3);
  expect(new Set(seen).size).toBe(count);
  expect(seen).toHaveLength(count);
});
