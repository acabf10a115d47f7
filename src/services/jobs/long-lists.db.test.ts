import { afterAll, beforeAll, expect, it } from 'vitest';
import { mostLooked } from '../../db/long-lists.ts';
import { testServer, type TestServer } from '../../testing/server.ts';

let server: TestServer;
const tenant = 'historic';
const count = 2 * mostLooked + 100;

beforeAll(async () => {
  server = await testServer({ services: ['jobs'] });
  await server.db.sql`
    insert into jobs.job_done (
      tenant_id, id, app_id, name, queue, state, rank, payload, tags, attempt, max_attempts, run_at, started_at, timeout_ms, backoff_type,
      backoff_delay_ms, backoff_max_ms, lost_count, turn, created_at
    )
    select ${tenant}, 'job_' || lpad(to_hex(nth), 26, '0'), 'default', case nth when 1 then 'rare' else 'usual' end, 'q', 'completed', 0,
      '{}', case nth when 1 then '{oldest}'::text[] else '{}' end, 1, 5, now(), now(), 60000, 'fixed', 1000, 1000, 0, 1, now()
    from generate_series(1, ${count}::integer) as nth`;
});
afterAll(() => server.close());

const page = (query: string) => server.request('GET', `/jobs/v1/jobs?${query}`, { tenant });

it.each(['name=rare', 'tag=oldest', 'state=completed&name=rare'])(
  'pages that look for %s in a long history are short, and find it in the end',
  async (filter) => {
    const found: string[] = [];
    let pages = 0;
    for (let cursor: string | null = ''; cursor !== null; pages++) {
      const answer = await page(`${filter}${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`);
      expect(answer.status).toBe(200);
      found.push(...(answer.body as { id: string }[]).map(({ id }) => id));
      cursor = answer.headers.get('x-next-cursor');
    }
    expect(found).toEqual([`job_${'1'.padStart(26, '0')}`]);
    expect(pages).toBe(3);
  },
);

it('pages that are full cost nothing more, and none is left out or repeated', async () => {
  const seen = new Set<string>();
  for (let cursor: string | null = ''; cursor !== null;) {
    const answer = await page(
      `name=usual&limit=1000${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
    );
    for (const { id } of answer.body as { id: string }[]) {
      expect(seen.has(id)).toBe(false);
      seen.add(id);
    }
    cursor = answer.headers.get('x-next-cursor');
  }
  expect(seen.size).toBe(count - 1);
});

it('an offset that would reach through all of it is refused', async () => {
  const { status, body } = await page('name=rare&offset=1');
  expect([status, body.error]).toEqual([
    400,
    'offset: reaches too far with these filters, follow X-Next-Cursor instead',
  ]);
  expect((await page('offset=10050')).status).toBe(200);
});
