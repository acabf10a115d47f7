/** Tests that the list of scans is in order and complete, and that each filter finds its index however many scans there are. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Sql } from '../../../db/index.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { tools } from '../testing.ts';
import { newestScans, type ScanFilter, scanStore } from './scans.store.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
const tenant = 'many';
const count = 20_000;
/** The id of the nth scan; later ones have greater numbers. */
const idOf = (nth: number) => `scan_01m7w4n5e0${String(nth).padStart(16, '0')}`;

beforeAll(async () => {
  server = await testServer({ services: ['safety'] });
  api = tools(server);
  const { id } = await api.scanInput('hello');
  await server.db.transaction(
    (sql) => sql`
      insert into safety.scan (tenant_id, id, direction, decision, user_id, profile_used, body)
      select ${tenant}, 'scan_01m7w4n5e0' || lpad(n::text, 16, '0'), case when n % 100 = 7 then 'output' else 'input' end,
        case when n % 500 = 3 then 'block' else 'allow' end, case when n % 400 = 1 then 'anna' else '' end, profile_used, body
      from safety.scan cross join generate_series(1, ${count}::integer) as n where id = ${id}`,
  );
  await server.db.sql.unsafe('analyze safety.scan');
});
afterAll(() => server.close());

const nths = (belongs: (nth: number) => boolean) =>
  Array.from({ length: count }, (_, at) => count - at)
    .filter(belongs)
    .map(idOf);

it('has twenty scans of the tenant, the newest first', async () => {
  const page = (await api.send('GET', '/scans', { tenant })) as { id: string }[];
  expect(page.map(({ id }) => id)).toEqual(nths(() => true).slice(0, 20));
});

it.each([
  ['decision=block', (nth: number) => nth % 500 === 3],
  ['direction=output', (nth: number) => nth % 100 === 7],
  ['user_id=anna', (nth: number) => nth % 400 === 1],
  ['decision=block&direction=output', () => false],
])('a walk over %s meets every scan once', async (query, belongs) => {
  const met: string[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const after = cursor === '' ? '' : `&cursor=${cursor}`;
    const page = await server.request('GET', `/safety/v1/scans?${query}&limit=50${after}`, { tenant });
    met.push(...(page.body as { id: string }[]).map(({ id }) => id));
    cursor = page.headers.get('x-next-cursor');
  }
  expect(met).toEqual(nths(belongs));
});

interface Plan {
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly Plan[];
}

const rowsOf = (plan: Plan): number =>
  (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops'] +
  (plan.Plans ?? []).reduce((sum, below) => sum + rowsOf(below), 0);

/** The rows that the statement of a page reads. */
async function rowsRead(filter: Partial<ScanFilter>): Promise<number> {
  const { sql } = server.db;
  const explaining = ((texts: TemplateStringsArray, ...values: never[]) =>
    texts[0]!.trimStart().startsWith('select * from (')
      ? sql`explain (analyze, format json) ${sql(texts as never, ...values)}`
      : sql(texts as never, ...values)) as never as Sql;
  const none = {
    ...{ direction: undefined, decision: undefined, user: undefined, profile: undefined },
    ...{ fromId: undefined, toId: undefined },
  };
  const window = { order: newestScans, limit: 20, offset: 0, after: null };
  const [row] = (await scanStore(explaining).list(tenant, { ...none, ...filter }, window)).rows;
  const { 'QUERY PLAN': plan } = row as unknown as { 'QUERY PLAN': [{ Plan: Plan }] | string };
  const [{ Plan: root }] = typeof plan === 'string' ? (JSON.parse(plan) as [{ Plan: Plan }]) : plan;
  return rowsOf(root);
}

it.each<Partial<ScanFilter>>([
  {},
  { direction: 'output' },
  { decision: 'block' },
  { user: 'anna' },
  { profile: 'default' },
  { fromId: idOf(400), toId: idOf(420) },
  { user: 'nobody' },
])('a page of %j reads few rows', async (filter) => {
  expect(await rowsRead(filter)).toBeLessThan(200);
});
