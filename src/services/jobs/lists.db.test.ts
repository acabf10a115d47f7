import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Job } from '../../../generated/jobs/types.ts';
import { mostLooked } from '../../db/long-lists.ts';
import { testServer, type TestServer } from '../../testing/server.ts';
import { newQueue, tools } from './testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['jobs'] });
  api = tools(server);
});
afterAll(() => server.close());

describe('a long history', () => {
  const tenant = 'historic';
  const count = 2 * mostLooked + 100;
  beforeAll(async () => {
    await server.db.sql`
      insert into jobs.job_done (
        tenant_id, id, app_id, name, queue, state, rank, payload, tags, attempt, max_attempts, run_at, started_at, timeout_ms, backoff_type,
        backoff_delay_ms, backoff_max_ms, lost_count, turn, created_at
      )
      select ${tenant}, 'job_' || lpad(to_hex(nth), 26, '0'), 'default', case nth when 1 then 'rare' else 'usual' end, 'q', 'completed', 0,
        '{}', case nth when 1 then '{oldest}'::text[] else '{}' end, 1, 5, now(), now(), 60000, 'fixed', 1000, 1000, 0, 1, now()
      from generate_series(1, ${count}::integer) as nth`;
  });
  // The operator's lists would look through it, too.
  afterAll(() => server.db.sql`delete from jobs.job_done where tenant_id = ${tenant}`);

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
});

describe('lists', () => {
  it('page by id without gaps or repeats while jobs end, and filter', async () => {
    const queue = newQueue();
    const ids = [];
    for (let at = 0; at < 7; at++)
      ids.push((await api.create({ queue, tags: at % 2 === 0 ? ['even', 'x'] : ['x'] })).id);
    const pages: Job[] = [];
    let cursor = '';
    do {
      const page = await server.request('GET', `/jobs/v1/jobs?queue=${queue}&limit=2${cursor}`);
      pages.push(...page.body);
      const next = page.headers.get('X-Next-Cursor');
      cursor = next === null ? '' : `&cursor=${next}`;
      const { lease, job } = await api.take(queue);
      await api.post(`/jobs/${job.id}/complete`, { lease_id: lease });
    } while (cursor !== '');
    expect(pages.map(({ id }) => id)).toEqual(ids.toReversed());
    const list = async (query: string) =>
      (await api.send('GET', `/jobs?queue=${queue}&${query}`)).map(({ id }: Job) => id);
    expect(await list('tag=even&tag=x')).toEqual(ids.filter((_, at) => at % 2 === 0).toReversed());
    expect(await list('state=pending')).toEqual(ids.slice(4).toReversed());
    expect(await list('state=completed&limit=3&offset=1')).toEqual(ids.slice(0, 3).toReversed());
    expect(await list('name=other')).toEqual([]);
  });

  it('have shorter pages when the payloads are large, and so have leases', async () => {
    const queue = newQueue();
    const payload = { text: 'x'.repeat(65_000) };
    for (let part = 0; part < 4; part++)
      await api.post('/jobs/batch', {
        jobs: Array.from({ length: 50 }, () => ({ name: 'n', queue, payload })),
      });
    const page = await server.request('GET', `/jobs/v1/jobs?queue=${queue}&limit=1000`);
    expect(page.body.length).toBeGreaterThan(100);
    expect(page.body.length).toBeLessThan(140);
    const cursor = page.headers.get('X-Next-Cursor');
    const rest = await server.request('GET', `/jobs/v1/jobs?queue=${queue}&limit=1000&cursor=${cursor}`);
    expect(new Set([...page.body, ...rest.body].map(({ id }: Job) => id)).size).toBe(200);
    expect(rest.headers.get('X-Next-Cursor')).toBeNull();
    const { jobs } = await api.lease(queue, { max_jobs: 1_000 });
    expect(jobs.length).toBeGreaterThanOrEqual(64);
    expect(jobs.length).toBeLessThan(100);
  });

  it.each(['state=done', 'limit=1001', 'limit=0', 'offset=100001', 'queue=%00', 'tag='])(
    'refuse %s',
    async (query) => {
      expect((await api.refusal('GET', `/jobs?${query}`))[0]).toBe(400);
    },
  );

  it('counts have all states on an empty tenant', async () => {
    const none = { pending: 0, running: 0, completed: 0, failed: 0, retrying: 0, cancelled: 0 };
    expect(await api.send('GET', '/jobs/counts', { tenant: 'empty' })).toEqual(none);
    expect(await api.send('GET', '/stats', { tenant: 'empty' })).toEqual({
      jobs: none,
      dlq_count: 0,
      workflows: { running: 0, completed: 0, failed: 0 },
    });
  });
});
