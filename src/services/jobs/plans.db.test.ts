import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { claim, claimLimited } from '../../db/engine/claim.store.ts';
import { jobStore } from '../../db/engine/jobs.store.ts';
import { settleStore } from '../../db/engine/settle.store.ts';
import type { Sql } from '../../db/index.ts';
import { testDatabase, type TestDatabase } from '../../testing/database.ts';
import { jobReads } from './jobs.store.ts';
import { byId } from './lists.ts';
import { takingStore } from './taking.store.ts';

/** Only a server tells how often a table was read as a whole. */
describe.runIf(inject('engine') === 'postgres')('with many jobs no table is read as a whole', () => {
  const jobs = 40_000;
  const view = { app: 'default', tenant: 't7' };
  const window = { order: byId, limit: 50, offset: 0, after: null };
  let db: TestDatabase;

  beforeAll(async () => {
    db = await testDatabase({ services: ['jobs'] });
    const terms = db.sql`0, '{}'::json, '{}'::text[], 0, 5, now() - interval '1 minute', 60000, 'fixed', 1000, 1000, now()`;
    const ids = db.sql`'t' || nth % 200, 'job_' || lpad(to_hex(nth), 26, '0'), 'default', 'n', 'q' || nth % 3`;
    const columns = db.sql`rank, payload, tags, attempt, max_attempts, run_at, timeout_ms, backoff_type, backoff_delay_ms, backoff_max_ms, created_at`;
    const from = (first: number) =>
      db.sql`from generate_series(${first}::integer, ${first + jobs - 1}::integer) as nth`;
    await db.sql`
      insert into jobs.job (tenant_id, id, app_id, name, queue, ${columns}) select ${ids}, ${terms} ${from(1)}`;
    await db.sql`
      insert into jobs.job_done (tenant_id, id, app_id, name, queue, state, lost_count, turn, ${columns})
      select ${ids}, case when nth % 50 = 0 then 'failed' else 'completed' end, 0, 1, ${terms} ${from(1_000_000)}`;
    await db.sql`analyze jobs.job`;
    await db.sql`analyze jobs.job_done`;
  }, 60_000);
  afterAll(() => db.close());

  const reads = async (): Promise<Record<string, number>> => {
    const rows = await db.sql<{ relname: string; seq_scan: number }[]>`
      select relname, seq_scan::integer from pg_stat_user_tables where schemaname = 'jobs' and relname in ('job', 'job_done')`;
    return Object.fromEntries(rows.map(({ relname, seq_scan }) => [relname, seq_scan]));
  };

  const request = { queue: 'q1', leaseId: 'lease_plan', count: 100, cursor: new Map() };
  test.each<[string, (sql: Sql) => Promise<unknown>]>([
    ['a claim', (sql) => claim(sql, request)],
    [
      'a claim of a queue with limits',
      async (sql) => {
        await sql`insert into jobs.queue (app_id, name, max_concurrency) values ('default', 'q2', 500)`;
        await claimLimited(sql, { ...request, queue: 'q2' });
      },
    ],
    [
      'the end of attempts',
      async (sql) => {
        const { jobs: taken } = await claim(sql, request);
        const ended = taken.map(({ tenant_id, id, lease_id, turn }) => ({
          ...{ tenant_id, id, lease_id, turn },
          output: null,
        }));
        expect(await settleStore(sql).complete(ended)).toHaveLength(100);
      },
    ],
    ['a look for waiting workers', (sql) => takingStore(sql).prospects([{ queue: 'q0', ...view }])],
    ['a job', (sql) => jobReads(sql).get(view, `job_${(7).toString(16).padStart(26, '0')}`)],
    ['a list', (sql) => jobReads(sql).list(view, {}, window)],
    ['a list of what failed', (sql) => jobReads(sql).list(view, { state: 'failed' }, window)],
    ['a list by queue and name', (sql) => jobReads(sql).list(view, { queue: 'q1', name: 'n' }, window)],
    [
      'a cancellation',
      (sql) => jobStore(sql).cancel([{ tenant_id: 't7', id: `job_${'7'.padStart(26, '0')}` }]),
    ],
  ])('for %s', async (_, work) => {
    const before = await reads();
    await done(work);
    expect(await reads()).toEqual(before);
  });

  test('what reads one as a whole is seen', async () => {
    const before = await reads();
    await done((sql) => sql`select count(lease_id) from jobs.job`);
    expect(await reads()).not.toEqual(before);
  });

  const done = (work: (sql: Sql) => Promise<unknown>) =>
    db.transaction(async (sql) => {
      await work(sql);
      // Otherwise the numbers would arrive some seconds later.
      await sql`select pg_stat_force_next_flush()`;
    });
});
