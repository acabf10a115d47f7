import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mostLooked } from '../../db/long-lists.ts';
import { testServer, type TestServer } from '../../testing/server.ts';

let server: TestServer;
const tenant = 'historic';
const count = 2 * mostLooked + 100;
/** The row that a rare filter finds is the oldest one. */
const oldest = '1'.padStart(26, '0');

beforeAll(async () => {
  server = await testServer({ services: ['jobs'] });
  const id = (prefix: string) => server.db.sql`${prefix}::text || lpad(to_hex(nth), 26, '0')`;
  const name = server.db.sql`case nth when 1 then 'rare' else 'usual' end`;
  const rows = server.db.sql`from generate_series(1, ${count}::integer) as nth`;
  await server.db.sql`
    insert into jobs.run (tenant_id, id, app_id, name, version, state, input, job_id, completed_at)
    select ${tenant}, ${id('wfrun_')}, 'default', ${name}, 1, case when nth <= 2 then 'failed' else 'completed' end, '{}', ${id('job_')}, now()
    ${rows}`;
  await server.db.sql`
    insert into jobs.dlq (
      tenant_id, id, app_id, job_id, job_name, queue, error, payload, tags, rank, attempt, max_attempts, timeout_ms, backoff_type,
      backoff_delay_ms, backoff_max_ms
    )
    select ${tenant}, ${id('dlq_')}, 'default', ${id('job_')}, ${name}, case nth when 1 then 'rare' else 'q' end, 'e', '{}',
      case nth when 1 then '{oldest}'::text[] else '{}' end, 0, 5, 5, 60000, 'fixed', 1000, 1000
    ${rows}`;
});
afterAll(() => server.close());

/** Reads a list to its end. Returns the ids, and the number of pages. */
async function read(path: string, as: { tenant?: string } = { tenant }) {
  const ids: string[] = [];
  let pages = 0;
  for (let cursor: string | null = ''; cursor !== null; pages++) {
    const place = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const answer = await server.request('GET', `/jobs/v1${path}${place}`, as);
    expect(answer.status).toBe(200);
    ids.push(...(answer.body as { id: string }[]).map(({ id }) => id));
    cursor = answer.headers.get('x-next-cursor');
  }
  return { ids, pages };
}

describe('pages that look for a rare record in a long history are short, and find it in the end', () => {
  it.each([
    ['/workflows/runs?name=usual&state=failed', `wfrun_${'2'.padStart(26, '0')}`],
    ['/dlq?job_name=rare', `dlq_${oldest}`],
    ['/dlq?tag=oldest', `dlq_${oldest}`],
    ['/dlq?tag=oldest&job_name=rare', `dlq_${oldest}`],
  ])('%s', async (path, id) => {
    expect(await read(path)).toEqual({ ids: [id], pages: 3 });
  });

  it.each([
    ['/workflows/runs?name=rare', `wfrun_${oldest}`],
    ['/dlq?queue=rare', `dlq_${oldest}`],
  ])('%s, of all tenants', async (path, id) => {
    expect(await read(path, {})).toEqual({ ids: [id], pages: 3 });
  });
});

describe('pages with a filter of which there is an index come at once', () => {
  it.each([
    ['/workflows/runs?name=rare', `wfrun_${oldest}`],
    ['/workflows/runs?state=failed&name=rare', `wfrun_${oldest}`],
    ['/dlq?queue=rare', `dlq_${oldest}`],
    ['/dlq?queue=rare&job_name=rare', `dlq_${oldest}`],
  ])('%s', async (path, id) => {
    expect(await read(path)).toEqual({ ids: [id], pages: 1 });
  });
});

it.each(['/workflows/runs?name=usual&state=completed', '/dlq?job_name=usual'])(
  'full pages of %s leave nothing out and repeat nothing',
  async (path) => {
    const { ids } = await read(`${path}&limit=1000`);
    expect(ids).toEqual([...new Set(ids)].toSorted().reverse());
    expect(ids).toHaveLength(path.startsWith('/dlq') ? count - 1 : count - 2);
  },
);

it.each(['/workflows/runs?name=usual&state=failed', '/dlq?job_name=rare'])(
  'an offset that would reach through all of %s is refused',
  async (path) => {
    const { status, body } = await server.request('GET', `/jobs/v1${path}&offset=1`, { tenant });
    expect([status, body.error]).toEqual([
      400,
      'offset: reaches too far with these filters, follow X-Next-Cursor instead',
    ]);
  },
);
