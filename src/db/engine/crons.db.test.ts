import { afterAll, afterEach, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { newId } from '../../lib/ids.ts';
import { testDatabase, type TestDatabase } from '../../testing/database.ts';
import { type Database, openDatabase } from '../index.ts';
import { createCrons } from './crons.ts';
import { cronStore } from './crons.store.ts';
import { createHints } from '../hints.ts';
import { schedule } from './schedule.ts';
import { engines, log, queries, settledAs } from './testing/queries.ts';

let db: TestDatabase;
/** The databases of eight processes, where the engine allows more than one. */
let all: Database[];
const { create, stop } = engines(() => db);
const { counts, clear } = queries(() => db);
beforeAll(async () => {
  db = await testDatabase();
  const { url, dataDir } = db.options;
  all = await Promise.all(
    Array.from({ length: 8 }, async () =>
      inject('engine') === 'postgres' ? openDatabase({ url, dataDir, log }) : db,
    ),
  );
});
afterEach(async () => {
  vi.restoreAllMocks();
  await stop();
  await clear();
});
afterAll(async () => {
  await Promise.all(all.filter((one) => one !== db).map((one) => one.close()));
  await db.close();
});

const cronsOn = (own: Database) =>
  createCrons({ db: own, log, hints: createHints({ db: own, log, channel: 'jobs' }), maxPayload: 65_536 });

/** Starts the crons of processes and stops them when the condition holds. */
async function whileFiring(count: number, work: () => Promise<unknown>): Promise<void> {
  const crons = all.slice(0, count).map(cronsOn);
  await Promise.all(crons.map((one) => one.start()));
  try {
    await work();
  } finally {
    await Promise.all(crons.map((one) => one.stop()));
  }
}

interface Entry {
  readonly schedule?: string;
  readonly misfire?: 'once' | 'skip';
  readonly overlap?: 'allow' | 'skip';
  /** How long ago it was due. */
  readonly ago?: string;
}

/** Stores entries that are due. */
async function store(
  count: number,
  { schedule = '* * * * *', misfire = 'once', overlap = 'allow', ago = '1 hour' }: Entry = {},
) {
  const ids = Array.from({ length: count }, () => newId('cron'));
  await db.sql`
    insert into jobs.cron (
      tenant_id, id, app_id, name, schedule, timezone, enabled, next_run_at, job_name, queue, payload, tags, rank, max_attempts,
      timeout_ms, backoff_type, backoff_delay_ms, backoff_max_ms, misfire, overlap
    )
    select 't', id, 'default', 'entry' || position, ${schedule}, 'UTC', true, date_trunc('minute', now() - ${ago}::text::interval), 'n', 'q', '{}',
      '{}', 0, 5, 300000, 'exponential', 2000, 3600000, ${misfire}, ${overlap}
    from unnest(${ids}::text[]) with ordinality as entry(id, position)`;
  return ids;
}

const left = async () => {
  const [row] = await db.sql<[{ count: number }]>`select count(*) from jobs.cron where next_run_at <= now()`;
  return row.count;
};

test('eight processes make one job of each due entry, for the newest missed tick', async () => {
  await store(1_000);
  await whileFiring(8, () => expect.poll(left, { timeout: 50_000 }).toBe(0));
  const [row] = await db.sql`
    select count(*) as entries, min(jobs) as least, max(jobs) as most, bool_and(newest <= now() and newest > now() - interval '3 minutes') as new
    from (
      select cron.id, count(job.id) as jobs, max(job.run_at) as newest
      from jobs.cron left join jobs.job on job.origin_id = cron.id group by cron.id
    ) as entry`;
  // When a minute begins meanwhile, the entries that fired before it fire again.
  expect(row).toMatchObject({ entries: 1_000, least: 1, new: true });
  const [ticks] = await db.sql`
    select count(*) as jobs, count(distinct (origin_id, run_at)) as distinct_jobs from jobs.job`;
  expect(ticks!['jobs']).toBe(ticks!['distinct_jobs']);
});

describe('missed ticks', () => {
  test('make no job with skip when they are over a minute late', async () => {
    const [id] = await store(1, { schedule: '0 0 1 1 *', misfire: 'skip' });
    await whileFiring(2, () => expect.poll(left).toBe(0));
    expect(await counts()).toEqual({});
    expect(await db.sql`select last_fired_at from jobs.cron where id = ${id!}`).toEqual([
      { last_fired_at: null },
    ]);
  });

  test('make one with once', async () => {
    await store(1, { schedule: '0 0 1 1 *' });
    await whileFiring(2, () => expect.poll(left).toBe(0));
    expect(await counts()).toEqual({ pending: 1 });
  });
});

test('with overlap skip no job is made while the last one lives', async () => {
  const [id] = await store(1, { schedule: '0 0 1 1 *', overlap: 'skip' });
  const again = async () => {
    await db.sql`update jobs.cron set next_run_at = date_trunc('minute', now() - interval '1 hour')`;
    await whileFiring(1, () => expect.poll(left).toBe(0));
  };
  await again();
  await again();
  expect(await counts()).toEqual({ pending: 1 });
  expect(await cronStore(db.sql).trigger('t', id!, newId('job'))).toBeUndefined();
  const engine = create();
  engine.handle('q', 'n', () => {});
  await engine.start();
  await settledAs(counts, { completed: 1 });
  await stop();
  await again();
  expect(await counts()).toEqual({ completed: 1, pending: 1 });
});

test('a firing that was decided before the entry was disabled or deleted does not happen', async () => {
  const [disabled, deleted, fires] = await store(3);
  const crons = cronStore(db.sql);
  const { due, now } = await crons.due(10);
  expect(due).toHaveLength(3);
  await crons.setEnabled('t', disabled!, null);
  await crons.delete('t', deleted!);
  const next = new Date(now + 3_600_000).toISOString();
  const queues = await crons.fire(
    due.map(({ tenant_id, id, next_run_at }) => ({
      tenant_id,
      id,
      due: next_run_at,
      tick: next_run_at,
      next,
      job_id: newId('job'),
    })),
  );
  expect(queues).toEqual(['q']);
  expect(await db.sql`select origin_id from jobs.job`).toEqual([{ origin_id: fires }]);
  await crons.setEnabled('t', disabled!, next);
  expect((await crons.due(10)).due).toEqual([]);
});

test('the clock of a process that is wrong by an hour does no harm', async () => {
  await store(1, { schedule: '*/5 * * * *' });
  const realNow = Date.now;
  vi.spyOn(Date, 'now').mockImplementation(() => realNow() + 3_600_000);
  await whileFiring(1, () => expect.poll(left).toBe(0));
  const [row] = await db.sql`
    select next_run_at > now() and next_run_at <= now() + interval '5 minutes' as next from jobs.cron`;
  expect(row).toEqual({ next: true });
});

test('an entry is triggered beside its schedule', async () => {
  const [id] = await store(1, { ago: '-1 hour' });
  const jobId = newId('job');
  expect(await cronStore(db.sql).trigger('t', id!, jobId)).toEqual({ id: jobId, queue: 'q' });
  expect(await cronStore(db.sql).trigger('t', newId('cron'), newId('job'))).toBeUndefined();
  expect(await counts()).toEqual({ pending: 1 });
});

describe('an entry of the code', () => {
  const declared = () => db.sql`select schedule, next_run_at, enabled, payload, tags from jobs.cron`;
  async function start(text: string, payload: object) {
    const engine = create();
    engine.cron(
      'nightly',
      text,
      { name: 'n', queue: 'q', payload, tags: ['a', 'b'] },
      { timezone: 'Europe/Berlin' },
    );
    await engine.start();
    await stop();
  }

  test('is declared once, keeps its tick, and follows a new schedule', async () => {
    await start('30 2 * * *', { a: 1 });
    const next = new Date(schedule('30 2 * * *', 'Europe/Berlin').next(Date.now())!).toISOString();
    expect(await declared()).toEqual([
      { schedule: '30 2 * * *', next_run_at: next, enabled: true, payload: { a: 1 }, tags: ['a', 'b'] },
    ]);
    await db.sql`update jobs.cron set next_run_at = '2030-01-01T00:00:00Z'`;
    await start('30 2 * * *', { a: 2 });
    expect(await declared()).toMatchObject([{ next_run_at: '2030-01-01T00:00:00.000Z', payload: { a: 2 } }]);
    await start('31 2 * * *', { a: 2 });
    expect((await declared())[0]!['next_run_at']).not.toBe('2030-01-01T00:00:00.000Z');
    await db.sql`update jobs.cron set enabled = false, next_run_at = null`;
    await start('32 2 * * *', { a: 2 });
    expect(await declared()).toMatchObject([{ schedule: '32 2 * * *', enabled: false, next_run_at: null }]);
  });

  test('is checked when it is declared', () => {
    const engine = create();
    expect(() => engine.cron('nightly', '@hourly', { name: 'n' })).toThrow('schedule: must have five fields');
    expect(() => engine.cron('night ly', '* * * * *', { name: 'n' })).toThrow('name: must have');
  });
});
