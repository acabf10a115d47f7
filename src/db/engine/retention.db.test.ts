import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '../../lib/ids.ts';
import { testDatabase, type TestDatabase } from '../../testing/database.ts';
import { runSweep } from '../sweeps.ts';
import { createEngine } from './index.ts';
import { retentionSweep } from './retention.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
});
afterAll(() => db.close());

const hour = 3_600_000;

test('what is older than its retention is deleted in batches, whatever its id says', async () => {
  const now = Date.now();
  /** Jobs by the hours since they were made and since they ended. */
  const ages = [...Array.from({ length: 7 }, () => [5, 4]), [5, 1], [1, 1]] as const;
  await db.sql`
    insert into jobs.job_done (
      tenant_id, id, app_id, name, queue, state, rank, payload, tags, attempt, max_attempts, run_at, completed_at, timeout_ms,
      backoff_type, backoff_delay_ms, backoff_max_ms, lost_count, turn, created_at
    )
    select 't', id, 'a', 'n', 'q', 'completed', 0, '{}', '{}', 1, 5, now(), now() - ended * interval '1 hour', 1000, 'fixed', 1000, 1000, 0,
      1, now()
    from unnest(
      ${ages.map(([made]) => newId('job', now - made * hour))}::text[], ${ages.map(([, ended]) => ended)}::integer[]
    ) as job(id, ended)`;
  await db.sql`
    insert into jobs.job_key (tenant_id, app_id, unique_key, job_id, expires_at)
    values ('t', 'a', 'over', 'j', now()), ('t', 'a', 'held', 'j', now() + interval '1 hour'), ('t', 'a', 'live', 'j', null)`;
  const sweep = retentionSweep(db, { jobsMs: 3 * hour, deadLettersMs: hour, runsMs: 1 });
  await runSweep({ ...sweep, batch: 3 });
  expect(await db.sql`select count(*) from jobs.job_done`).toEqual([{ count: 2 }]);
  expect(await db.sql`select unique_key from jobs.job_key order by unique_key`).toEqual([
    { unique_key: 'held' },
    { unique_key: 'live' },
  ]);
});

test('an engine that runs prunes its outbox', async () => {
  const engine = createEngine({ db, log: pino({ level: 'silent' }) });
  await engine.start();
  const pruned = () =>
    db.sql`select name from jobs.sweep where name = 'jobs.outbox' and due_at > now() + interval '1 minute'`;
  await expect.poll(pruned).toEqual([{ name: 'jobs.outbox' }]);
  await engine.stop(0);
});
