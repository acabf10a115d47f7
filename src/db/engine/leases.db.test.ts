import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test, vi } from 'vitest';
import { testDatabase, type TestDatabase } from '../../testing/database.ts';
import { until } from '../../testing/until.ts';
import { createLeases } from './leases.ts';
import { leaseStore } from './leases.store.ts';
import { log } from './testing/queries.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
});
afterEach(async () => {
  await db.sql`delete from jobs.job`;
  await db.sql`delete from jobs.lease`;
});
afterAll(() => db.close());

const lease = (id: string, ttlMs: number, kind: 'http' | 'process' = 'http') =>
  leaseStore(db.sql).create({ id, kind, tenant: 't', app: 'a', worker: '', ttlMs });
const runningUnder = (leaseId: string) => db.sql`
  insert into jobs.job (
    tenant_id, id, app_id, name, queue, state, rank, payload, tags, attempt, max_attempts, run_at, started_at, timeout_ms, backoff_type,
    backoff_delay_ms, backoff_max_ms, lease_id
  ) values (
    't', ${`job_of_${leaseId}`}, 'a', 'n', 'q', 'running', 0, '{}', '{}', 1, 5, now(), now(), 300000, 'fixed', 1000, 1000, ${leaseId}
  )`;
const leaseIds = async () =>
  (await db.sql<{ id: string }[]>`select id from jobs.lease order by id`).map(({ id }) => id);

test('a look for expired leases ends them, and tells when the next one that matters expires', async () => {
  const [hour, day] = [3_600_000, 86_400_000];
  const look = () => leaseStore(db.sql).endExpired({ graceMs: 0, soonMs: day });
  expect(await look()).toEqual({ found: false, nextMs: null });
  await lease('expired', -1);
  await lease('without jobs', hour);
  await lease('later', 2 * day, 'process');
  expect(await look()).toEqual({ found: true, nextMs: null });
  await lease('process', 10 * hour, 'process');
  const { found, nextMs } = await look();
  expect(found).toBe(false);
  expect(nextMs! / hour).toBeCloseTo(10, 0);
  await lease('with a job', 5 * hour);
  await runningUnder('with a job');
  expect((await look()).nextMs! / hour).toBeCloseTo(5, 0);
  expect(await leaseIds()).toEqual(['later', 'process', 'with a job', 'without jobs']);
});

// Processes on a server look only when they have renewed their own leases for a while.
describe.runIf(inject('engine') === 'pglite')('without the looks that follow each other every second', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
  afterEach(() => void vi.useRealTimers());

  test('a job runs again when the lease of its worker expires', async () => {
    await lease('short', 800);
    await runningUnder('short');
    const leases = createLeases({
      db,
      log,
      ttlMs: 60_000,
      maxLost: 10,
      hint: () => {},
      held: () => [],
      onTaken: () => {},
      onLost: () => {},
    });
    await leases.start();
    await until(async () => (await db.sql`select from jobs.job where state = 'pending'`).length === 1);
    expect(await leaseIds()).toEqual([leases.id()]);
    await leases.stop();
  });
});
