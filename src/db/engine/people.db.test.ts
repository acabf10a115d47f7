import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../lib/ids.ts';
import { testDatabase, type TestDatabase } from '../../testing/database.ts';
import { claim } from './claim.store.ts';
import { deadLetterStore } from './dead-letters.store.ts';
import { type Engine, type JobInput } from './index.ts';
import { jobStore } from './jobs.store.ts';
import { afterFailure, afterPostponement } from './outcomes.ts';
import { conclude } from './settle.ts';
import { settleStore } from './settle.store.ts';
import { engines, queries } from './testing/queries.ts';

let db: TestDatabase;
const { create, stop } = engines(() => db);
const { job, clear, counts } = queries(() => db);
let engine: Engine;
beforeAll(async () => {
  db = await testDatabase();
  engine = create();
});
afterEach(clear);
afterAll(async () => {
  await stop();
  await db.close();
});

const add = (more: Partial<JobInput> = {}) => engine.enqueue({ name: 'n', queue: 'q', tenant: 't', ...more });
const take = async () =>
  (await claim(db.sql, { queue: 'q', leaseId: 'lease_a', count: 1, cursor: new Map() })).jobs[0]!;
const attempted = {
  attempt: 9,
  maxAttempts: 1,
  lostCount: 0,
  backoff: { type: 'fixed', delayMs: 0, maxMs: 0 },
} as const;
async function failed(more: Partial<JobInput> = {}) {
  const { id } = await add(more);
  const taken = await take();
  await db.transaction((tx) =>
    conclude(tx, [{ ...taken, outcome: afterFailure(attempted, { error: 'no' }, 0) }]),
  );
  const [letter] = await db.sql<{ id: string }[]>`select id from jobs.dlq where job_id = ${id}`;
  return { id, letter: letter!.id };
}
const people = <T>(work: (jobs: ReturnType<typeof jobStore>) => Promise<T>) =>
  db.transaction((tx) => work(jobStore(tx)));

describe('a cancelled job', () => {
  test('is in the history, and frees its key', async () => {
    const { id } = await add({ unique_key: 'k' });
    expect(await people((jobs) => jobs.cancel([{ tenant_id: 'other', id }]))).toEqual([]);
    expect(await people((jobs) => jobs.cancel([{ tenant_id: 't', id }]))).toMatchObject([
      { id, name: 'n', queue: 'q' },
    ]);
    expect(await job(id)).toMatchObject({ state: 'cancelled', attempt: 0 });
    expect((await add({ unique_key: 'k' })).created).toBe(true);
  });

  test('was not running or ended', async () => {
    const { id } = await add();
    await take();
    expect(await people((jobs) => jobs.cancel([{ tenant_id: 't', id }]))).toEqual([]);
    expect(await people((jobs) => jobs.state(id))).toMatchObject({ state: 'running', tenant_id: 't' });
  });
});

describe('retrying', () => {
  test('makes a delayed job due', async () => {
    const { id } = await add({ delay: '1h' });
    expect(await people((jobs) => jobs.hasten('t', id))).toBe(true);
    expect(await take()).toMatchObject({ id });
    expect(await people((jobs) => jobs.hasten('t', id))).toBe(false);
  });

  test('takes a failed job back with all its attempts, and its dead letter away', async () => {
    const { id } = await failed({ unique_key: 'k' });
    expect(await people((jobs) => jobs.revive('t', id))).toBe('revived');
    expect(await job(id)).toMatchObject({ state: 'pending', attempt: 0, lost_count: 0, last_error: 'no' });
    expect(await db.sql`select from jobs.dlq`).toHaveLength(0);
    expect((await add({ unique_key: 'k' })).id).toBe(id);
    expect(await people((jobs) => jobs.revive('t', id))).toBe('none');
    expect(await counts()).toEqual({ pending: 1 });
  });

  test('is refused while another job has the key', async () => {
    const { id } = await failed({ unique_key: 'k' });
    await add({ unique_key: 'k', delay: '1h' });
    expect(await people((jobs) => jobs.revive('t', id))).toBe('taken');
    expect(await job(id)).toMatchObject({ state: 'failed' });
  });

  test('twice at once makes one job', async () => {
    const { id } = await failed();
    const results = await Promise.all([1, 2, 3].map(() => people((jobs) => jobs.revive('t', id))));
    expect(results.sort()).toEqual(['none', 'none', 'revived']);
    expect(await counts()).toEqual({ pending: 1 });
  });
});

describe('a dead letter', () => {
  test('replayed twice at once makes one job, as the failed one was', async () => {
    const { id, letter } = await failed({
      priority: 7,
      timeout: '90s',
      max_attempts: 3,
      tags: ['a'],
      payload: { a: 1 },
    });
    const replay = () =>
      db.transaction((tx) =>
        deadLetterStore(tx).replay([{ tenant_id: 't', id: letter, job_id: newId('job') }]),
      );
    const made = (await Promise.all([replay(), replay(), replay()])).flat();
    expect(made).toHaveLength(1);
    expect(
      await db.sql`select id, rank, timeout_ms, max_attempts, tags, payload, origin_id, attempt from jobs.job`,
    ).toEqual([
      {
        ...{ id: made[0]!.id, rank: -7, timeout_ms: 90_000, max_attempts: 3, tags: ['a'], payload: { a: 1 } },
        ...{ origin_id: id, attempt: 0 },
      },
    ]);
    expect(await counts()).toEqual({ failed: 1, pending: 1 });
  });

  test('is purged by age and queue', async () => {
    await failed();
    const purge = (more: object) => deadLetterStore(db.sql).purge({ olderThanMs: 0, most: 10, ...more });
    expect(await purge({ olderThanMs: 720 * 3_600_000 })).toBe(0);
    expect(await purge({ queue: 'other' })).toBe(0);
    expect(await purge({ tenant: 'other' })).toBe(0);
    expect(await purge({ queue: 'q', tenant: 't', app: 'default' })).toBe(1);
  });
});

test('only the execution that holds the job may end it', async () => {
  await add();
  const first = await take();
  await conclude(db.sql, [{ ...first, outcome: afterPostponement(0) }]);
  const second = await take();
  const end = (execution: object) =>
    settleStore(db.sql).complete([{ ...second, output: null, ...execution }]);
  expect(await end({ turn: first.turn })).toEqual([]);
  expect(await end({ lease_id: 'lease_b' })).toEqual([]);
  expect((await conclude(db.sql, [{ ...first, outcome: afterPostponement(0) }])).ids.size).toBe(0);
  // Outside workers know the lease only.
  expect(await end({ turn: undefined })).toEqual([second.id]);
  expect(await end({})).toEqual([]);
});
