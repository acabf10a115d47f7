import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { testDatabase, type TestDatabase } from '../../testing/database.ts';
import type { Sql } from '../sql.ts';
import { type Engine, type JobInput, JobFailure, Postponed } from './index.ts';
import { engines, queries, settledAs } from './testing/queries.ts';

let db: TestDatabase;
const { create, stop } = engines(() => db);
const { counts, job, clear } = queries(() => db);
let engine: Engine;
beforeAll(async () => {
  db = await testDatabase();
  await db.sql`create table effect (id text, n int)`;
});
beforeEach(async () => {
  // Whatever runs soon was found by a hint or a timer, not by a poll.
  engine = create({ pollMs: 60_000 });
});
afterEach(async () => {
  await stop();
  await clear();
  await db.sql`truncate effect`;
});
afterAll(() => db.close());

const add = (more: Partial<JobInput> = {}) => engine.enqueue({ name: 'n', queue: 'q', ...more });
const ended = (id: string, state: string) => expect.poll(async () => (await job(id))?.['state']).toBe(state);
const dueNow = (id: string) =>
  db.sql`update jobs.job set run_at = now() where id = ${id}`.then(() => engine.wake(['q']));

test('a job runs, and its result is kept', async () => {
  engine.handle<{ a: number }>('q', 'n', ({ payload, attempt }) => ({ twice: payload.a * 2, attempt }));
  await engine.start();
  const { id } = await add({ payload: { a: 21 } });
  await ended(id, 'completed');
  expect(await job(id)).toMatchObject({ output: { twice: 42, attempt: 1 }, attempt: 1, last_error: null });
});

test('jobs of a transaction start when it commits, without waiting for a poll', async () => {
  engine.handle('q', 'n', () => {});
  await engine.start();
  await db.transaction(async (tx) => {
    await engine.enqueue(
      [
        { name: 'n', queue: 'q' },
        { name: 'n', queue: 'q' },
      ],
      { tx },
    );
  });
  await settledAs(counts, { completed: 2 });
});

test('many jobs run once each, never more at once than the queue may', async () => {
  const runs = new Map<string, number>();
  let [now, most] = [0, 0];
  engine.handle(
    'q',
    'n',
    async ({ id }) => {
      runs.set(id, (runs.get(id) ?? 0) + 1);
      most = Math.max(most, ++now);
      await delay(1);
      now--;
    },
    { concurrency: 7 },
  );
  await engine.start();
  await Promise.all(
    Array.from({ length: 20 }, () =>
      engine.enqueue(Array.from({ length: 30 }, () => ({ name: 'n', queue: 'q' }))),
    ),
  );
  await settledAs(counts, { completed: 600 });
  expect(runs.size).toBe(600);
  expect(new Set(runs.values())).toEqual(new Set([1]));
  expect(most).toBe(7);
});

test('delayed jobs start on time, never early by the clock of the database', async () => {
  engine.handle('q', 'n', () => {});
  await engine.start();
  for (const ms of [20, 150, 600, 75]) await add({ delay: `${ms}ms` });
  await settledAs(counts, { completed: 4 });
  const [row] = await db.sql`
    select bool_and(started_at >= run_at) as never_early, max(started_at - run_at) < interval '5 seconds' as by_timer from jobs.job_done`;
  expect(row).toEqual({ never_early: true, by_timer: true });
});

describe('an attempt that fails', () => {
  test('is repeated until one succeeds', async () => {
    engine.handle('q', 'n', ({ attempt }) => {
      if (attempt < 3) throw new JobFailure(`no ${attempt}`, { retryInMs: 0 });
      return attempt;
    });
    await engine.start();
    const { id } = await add();
    await ended(id, 'completed');
    expect(await job(id)).toMatchObject({ attempt: 3, output: 3, last_error: 'no 2' });
  });

  test('waits for its back-off', async () => {
    engine.handle('q', 'n', () => Promise.reject(new Error('smtp: 451')));
    await engine.start();
    const { id } = await add({ backoff: { type: 'fixed', delay: '1h' } });
    await ended(id, 'retrying');
    const [row] =
      await db.sql`select attempt, last_error, run_at - now() > interval '59 minutes' as later from jobs.job`;
    expect(row).toEqual({ attempt: 1, last_error: 'smtp: 451', later: true });
  });

  test.each<[string, Partial<JobInput>, Error]>([
    ['with its last attempt', { max_attempts: 1 }, new Error('broken')],
    ['when another one would not help', {}, new JobFailure('broken', { retryable: false })],
  ])('for good %s leaves a dead letter and an event', async (_, input, error) => {
    engine.handle('q', 'n', () => Promise.reject(error));
    await engine.start();
    const { id } = await add({ ...input, payload: { a: 1 }, tenant: 'acme', app: 'shop' });
    await ended(id, 'failed');
    const letters =
      await db.sql`select id, tenant_id, app_id, job_id, job_name, queue, error, payload, attempt from jobs.dlq`;
    expect(letters).toEqual([
      {
        ...{
          id: letters[0]!['id'],
          tenant_id: 'acme',
          app_id: 'shop',
          job_id: id,
          job_name: 'n',
          queue: 'q',
        },
        ...{ error: 'broken', payload: { a: 1 }, attempt: 1 },
      },
    ]);
    expect(await db.sql`select tenant_id, app_id, type, subject, data from jobs.outbox`).toEqual([
      {
        ...{ tenant_id: 'acme', app_id: 'shop', type: 'jobs.job.failed', subject: id },
        data: {
          job_id: id,
          job_name: 'n',
          queue: 'q',
          error: 'broken',
          attempt: 1,
          dlq_id: letters[0]!['id'],
        },
      },
    ]);
  });

  test('because no handler has its name says so', async () => {
    engine.handle('q', 'other', () => {});
    await engine.start();
    const { id } = await add({ name: 'unknown', max_attempts: 1 });
    await ended(id, 'failed');
    expect(await job(id)).toMatchObject({ last_error: 'no handler for job unknown' });
  });

  test('because its result is too large says so', async () => {
    engine.handle('q', 'n', () => 'x'.repeat(65_535));
    await engine.start();
    const { id } = await add({ max_attempts: 1 });
    await ended(id, 'failed');
    expect(await job(id)).toMatchObject({ last_error: 'output: must have at most 65536 bytes' });
  });

  test('when its time is over, even if the handler hangs', async () => {
    const reasons: unknown[] = [];
    const began = performance.now();
    engine.handle(
      'q',
      'polite',
      (_, { signal }) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
    );
    engine.handle('q', 'hangs', (_, { signal }) => {
      signal.addEventListener('abort', () => reasons.push(signal.reason));
      return new Promise(() => {});
    });
    await engine.start();
    const polite = await add({ name: 'polite', timeout: '1s', max_attempts: 1 });
    const hangs = await add({ name: 'hangs', timeout: '1s', max_attempts: 1 });
    await ended(polite.id, 'failed');
    expect(performance.now() - began).toBeGreaterThanOrEqual(990);
    await expect.poll(() => reasons).toEqual([new Error('timed out after 1s')]);
    expect(await job(hangs.id)).toMatchObject({ state: 'running' });
    await ended(hangs.id, 'failed');
    expect(performance.now() - began).toBeGreaterThanOrEqual(5_990);
    expect(await job(hangs.id)).toMatchObject({ last_error: 'timed out after 1s' });
  });
});

test('a postponed job goes on later, and its attempt does not count', async () => {
  let runs = 0;
  engine.handle('q', 'n', () => {
    if (++runs < 3) throw new Postponed(runs === 1 ? 10 : 3_600_000);
  });
  await engine.start();
  const { id } = await add({ max_attempts: 1 });
  await expect.poll(async () => [runs, (await job(id))?.['state']]).toEqual([2, 'pending']);
  expect(await job(id)).toMatchObject({ attempt: 0 });
  await dueNow(id);
  await ended(id, 'completed');
  expect(await job(id)).toMatchObject({ attempt: 1 });
});

describe('a job completed in the handler’s own transaction', () => {
  const effect = (tx: Sql, id: string) => tx`insert into effect (id) values (${id})`;

  test('takes effect with it', async () => {
    engine.handle('q', 'n', ({ id }, context) =>
      db.transaction(async (tx) => {
        await effect(tx, id);
        await context.complete(tx, { done: true });
      }),
    );
    await engine.start();
    const { id } = await add();
    await ended(id, 'completed');
    expect(await job(id)).toMatchObject({ output: { done: true } });
    expect(await db.sql`select id from effect`).toEqual([{ id }]);
  });

  test('is repeated when that rolls back, whatever the handler makes of it', async () => {
    engine.handle('q', 'n', async ({ id, attempt }, context) => {
      const work = db.transaction(async (tx) => {
        await effect(tx, id);
        await context.complete(tx);
        if (attempt === 1) throw new Error('no');
      });
      await work.catch(() => {});
    });
    await engine.start();
    const { id } = await add({ backoff: { type: 'fixed', delay: '1s' } });
    await ended(id, 'retrying');
    expect(await job(id)).toMatchObject({
      last_error: 'the transaction that ended the attempt was rolled back',
    });
    expect(await db.sql`select id from effect`).toEqual([]);
    await dueNow(id);
    await ended(id, 'completed');
    expect(await db.sql`select id from effect`).toEqual([{ id }]);
  });

  test('changes nothing when the job was lost meanwhile', async () => {
    const errors: unknown[] = [];
    engine.handle('q', 'n', async ({ id, attempt }, context) => {
      await db.sql`update jobs.job set turn = turn + 1 where id = ${id} and lost_count = 0`;
      await db
        .transaction(async (tx) => {
          await effect(tx, `${id}/${attempt}`);
          await context.complete(tx);
        })
        .catch((error: unknown) => {
          errors.push(error);
          throw error;
        });
    });
    await engine.start();
    const { id } = await add();
    await expect.poll(() => errors).toMatchObject([{ message: 'job is not held by this lease' }]);
    expect(await db.sql`select id from effect`).toEqual([]);
    expect(await job(id)).toMatchObject({ state: 'running' });
  });
});
