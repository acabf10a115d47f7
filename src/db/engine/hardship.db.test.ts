import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { testDatabase, type TestDatabase } from '../../testing/database.ts';
import { createPool, type Pool } from '../sql.ts';
import { JobFailure, type Engine } from './index.ts';
import { engines, queries, settledAs } from './testing/queries.ts';

/** The embedded database has one connection and nobody else who uses it. */
describe.runIf(inject('engine') === 'postgres')('a database that has other things to do', () => {
  let db: TestDatabase;
  /** Another user of the database. */
  let other: Pool;
  const { create, stop } = engines(() => db);
  const { counts, clear } = queries(() => db);
  const runs = new Map<string, number>();
  beforeAll(async () => {
    db = await testDatabase();
  });
  beforeEach(() => {
    other = createPool({ max: 1 }, db.options.url);
  });
  afterEach(async () => {
    await other.end({ timeout: 0 });
    await stop();
    await clear();
    runs.clear();
  });
  afterAll(() => db.close());

  /** Starts an engine whose jobs fail at first when their payload says so. */
  async function worker(): Promise<Engine> {
    const engine = create({ leaseMs: 2_000, pollMs: 200 });
    engine.handle<{ fails?: boolean }>('q', 'n', ({ id, payload }) => {
      const nth = (runs.get(id) ?? 0) + 1;
      runs.set(id, nth);
      if (payload.fails === true && nth === 1) throw new JobFailure('no', { retryInMs: 0 });
    });
    await engine.start();
    return engine;
  }
  const enqueue = (engine: Engine, count: number, payload: object = {}) =>
    engine.enqueue(Array.from({ length: count }, () => ({ name: 'n', queue: 'q', payload })));
  const done = async () => (await counts())['completed'] ?? 0;
  /** How often jobs were executed: at most the first number for one of them, and in all the second one. */
  const executions = () => [
    Math.max(...runs.values()),
    [...runs.values()].reduce((sum, count) => sum + count, 0),
  ];

  test('requests that take all connections of the process hold up no job, and new ones are stored when one is free', async () => {
    const engine = await worker();
    const later = (payload: object) =>
      engine.enqueue(Array.from({ length: 200 }, () => ({ name: 'n', queue: 'q', delay: '1h', payload })));
    await Promise.all([later({}), later({ fails: true })]);
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    await other`select pg_advisory_lock(1)`;
    // Those that get none are refused after a while.
    const taken = Array.from({ length: 20 }, () => [
      db.transaction(() => released).catch(() => {}),
      db.sql`select pg_advisory_xact_lock(1)`.catch(() => {}),
    ]);
    const waiting = () => db.pools().map((figures) => figures.pool !== 'background' && figures.waiting > 0);
    await expect.poll(waiting).toEqual([true, true, false]);
    await other`update jobs.job set run_at = now()`;
    const ended = () => other`select from jobs.job_done where state = 'completed'`;
    await expect.poll(async () => (await ended()).length).toBe(400);
    release();
    await other`select pg_advisory_unlock(1)`;
    await Promise.all(taken.flat());
    await enqueue(engine, 50);
    await settledAs(counts, { completed: 450 });
    expect(executions()).toEqual([2, 650]);
  });

  test('a session that is idle in its transaction holds up the rows that it has locked, and no others', async () => {
    const engine = create();
    const locked = await enqueue(engine, 50);
    await other`begin`;
    await other`select from jobs.job for update`;
    await worker();
    await enqueue(engine, 500);
    await expect.poll(done).toBe(500);
    expect(locked.some(({ id }) => runs.has(id))).toBe(false);
    await other`rollback`;
    await settledAs(counts, { completed: 550 });
    expect(executions()).toEqual([1, 550]);
  });

  test('a session that has locked what is executed holds up its end until it is gone', async () => {
    let go = () => {};
    const gate = new Promise<void>((resolve) => (go = resolve));
    const engine = create({ leaseMs: 2_000, pollMs: 200 });
    engine.handle('q', 'n', async ({ id }) => {
      runs.set(id, (runs.get(id) ?? 0) + 1);
      await gate;
    });
    await engine.start();
    await enqueue(engine, 5);
    await expect.poll(() => runs.size).toBe(5);
    const [{ pid }] = await other<[{ pid: number }]>`select pg_backend_pid() as pid`;
    await other`begin`;
    await other`select from jobs.job for update`;
    await enqueue(engine, 100);
    go();
    const waiting = () =>
      db.sql`select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
    await expect.poll(async () => (await waiting()).length).toBeGreaterThan(0);
    await db.sql`select pg_terminate_backend(${pid}::integer)`;
    await settledAs(counts, { completed: 105 });
    expect(executions()).toEqual([1, 105]);
  });

  test('a reader that keeps its snapshot holds up nothing, and sees nothing of it', async () => {
    await other`begin isolation level repeatable read`;
    await other`select count(*) from jobs.job`;
    const engine = await worker();
    for (let batch = 0; batch < 5; batch++) await enqueue(engine, 1_000);
    await settledAs(counts, { completed: 5_000 });
    expect(await other`select count(*) from jobs.job_done`).toEqual([{ count: 0 }]);
    expect(executions()).toEqual([1, 5_000]);
  });

  // The benchmark burns down ten times as many.
  test('a burst of twenty thousand jobs at once: each runs once, and then a new one does', async () => {
    const engine = await worker();
    await Promise.all(Array.from({ length: 20 }, () => enqueue(engine, 1_000)));
    await expect.poll(done, { timeout: 240_000, interval: 1_000 }).toBe(20_000);
    expect(executions()).toEqual([1, 20_000]);
    await enqueue(engine, 1);
    await settledAs(counts, { completed: 20_001 });
  }, 300_000);
});
