import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { testDatabase, type TestDatabase } from '../../testing/database.ts';
import { type Engine } from './index.ts';
import { leaseStore } from './leases.store.ts';
import { engines, queries, settledAs } from './testing/queries.ts';

let db: TestDatabase;
const { create, stop } = engines(() => db);
const { counts, job, clear } = queries(() => db);
let engine: Engine;
beforeAll(async () => {
  db = await testDatabase();
});
beforeEach(async () => {
  // Whatever runs soon was found by a hint or a timer, not by a poll.
  engine = create({ pollMs: 60_000 });
});
afterEach(async () => {
  await stop();
  await clear();
});
afterAll(() => db.close());

const add = () => engine.enqueue({ name: 'n', queue: 'q' });

describe('the end of a process', () => {
  test('leaves nothing behind and loses nothing', async () => {
    const runs: string[] = [];
    const handler = async ({ id }: { id: string }) => {
      await delay(2);
      runs.push(id);
    };
    engine.handle('q', 'n', handler, { concurrency: 20 });
    await engine.start();
    for (let from = 0; from < 3; from++)
      await engine.enqueue(Array.from({ length: 1_000 }, () => ({ name: 'n', queue: 'q' })));
    await expect.poll(() => runs.length).toBeGreaterThan(100);
    await engine.stop(20_000);
    expect(await db.sql`select id from jobs.lease`).toEqual([]);
    const left = await counts();
    expect(left).toEqual({ completed: runs.length, pending: 3_000 - runs.length });
    expect(await db.sql`select distinct attempt, lost_count from jobs.job`).toEqual([
      { attempt: 0, lost_count: 0 },
    ]);
    const other = create();
    other.handle('q', 'n', handler, { concurrency: 20 });
    await other.start();
    await settledAs(counts, { completed: 3_000 });
    expect(new Set(runs).size).toBe(3_000);
    expect(runs.length).toBe(3_000);
  });

  test('is not held up by a handler that does not end: its job runs again', async () => {
    const signals: AbortSignal[] = [];
    engine.handle('q', 'n', (_, { signal }) => {
      signals.push(signal);
      return new Promise(() => {});
    });
    await engine.start();
    const { id } = await add();
    await expect.poll(() => signals.length).toBe(1);
    await engine.stop(200);
    expect(signals[0]!.aborted).toBe(true);
    expect(await job(id)).toMatchObject({ state: 'pending', attempt: 0 });
  });
});

test('what runs under the lease but is not held goes back', async () => {
  await engine.start();
  const { id } = await add();
  const [lease] = await db.sql<{ id: string }[]>`select id from jobs.lease`;
  await db.sql`
    update jobs.job set state = 'running', lease_id = ${lease!.id}, attempt = 1, started_at = now() - interval '6 seconds'`;
  expect(await leaseStore(db.sql).putBackStrays(lease!.id, [id])).toEqual([]);
  expect(await leaseStore(db.sql).putBackStrays(lease!.id, [])).toEqual(['q']);
  expect(await job(id)).toMatchObject({ state: 'pending', attempt: 0 });
});
