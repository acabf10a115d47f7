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
  await db.sql`delete from jobs.lease`;
});
afterAll(() => db.close());

const lease = (id: string, ttlMs: number) =>
  leaseStore(db.sql).create({ id, kind: 'http', tenant: 't', app: 'a', worker: '', ttlMs });
const exists = async (id: string) => (await db.sql`select from jobs.lease where id = ${id}`).length > 0;

test('a look for expired leases ends them, and tells when the next one expires', async () => {
  const store = leaseStore(db.sql);
  expect(await store.endExpired(0)).toEqual({ found: false, nextMs: null });
  await lease('expired', -1);
  await lease('later', 3_600_000);
  await lease('next', 1_800_000);
  const { found, nextMs } = await store.endExpired(0);
  expect(found).toBe(true);
  expect(nextMs).toBeGreaterThan(900_000);
  expect(nextMs).toBeLessThanOrEqual(1_800_000);
  expect(await exists('expired')).toBe(false);
  expect(await exists('next')).toBe(true);
});

// Processes on a server look only when they have renewed their own leases for a while.
describe.runIf(inject('engine') === 'pglite')('without the looks that follow each other every second', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
  afterEach(() => void vi.useRealTimers());

  test('a lease is ended when it expires', async () => {
    await lease('short', 600);
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
    await until(async () => !(await exists('short')));
    expect(await exists(leases.id())).toBe(true);
    await leases.stop();
  });
});
