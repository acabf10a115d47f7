import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import { migratedFolder, testDatabase, type TestDatabase } from '../../testing/database.ts';
import { openDatabase } from '../index.ts';
import { createEngine, type Engine } from './index.ts';
import { createRan, engineProcesses } from './testing/processes.ts';
import { engines, log, queries, settledAs } from './testing/queries.ts';

/** A short lease, so that the tests need not wait for the usual one. */
const settings = { leaseMs: 2_000, pollMs: 200 };

describe.runIf(inject('engine') === 'postgres')('several processes', () => {
  let db: TestDatabase;
  let engine: Engine;
  const { create, stop } = engines(() => db);
  const { counts, job, clear } = queries(() => db);
  const { start, kill } = engineProcesses(() => db);
  beforeAll(async () => {
    db = await testDatabase();
    await createRan(db);
    engine = create();
  });
  afterEach(async () => {
    await kill();
    await clear();
    await db.sql`truncate ran`;
  });
  afterAll(async () => {
    await stop();
    await db.close();
  });

  const add = (count: number, name: string, payload = {}) =>
    engine.enqueue(Array.from({ length: count }, () => ({ name, queue: 'q', payload })));
  async function working(concurrency = 16, more = {}) {
    const worker = await start({ ...settings, ...more });
    await worker.call('work', { queue: 'q', concurrency });
    return worker;
  }

  test('the jobs of a killed process run elsewhere, and lose no attempt', async () => {
    const killed = await working(500);
    await add(500, 'waits');
    await settledAs(counts, { running: 500 });
    const other = await working();
    await other.call('release');
    await killed.kill();
    await settledAs(counts, { completed: 500 });
    expect(await db.sql`select distinct attempt, lost_count from jobs.job_done`).toEqual([
      { attempt: 1, lost_count: 1 },
    ]);
  });

  test('effects in the handler’s transaction happen once, whatever is killed', async () => {
    const survivor = await working(4);
    const made: string[] = [];
    for (let round = 0; round < 4; round++) {
      const victim = await working(50);
      for (const { id } of await add(150, 'effect')) made.push(id);
      await expect
        .poll(async () => (await db.sql`select from ran where pid = ${victim.pid} limit 1`).length)
        .toBe(1);
      await victim.kill();
    }
    expect(survivor.pid).toBeGreaterThan(0);
    await settledAs(counts, { completed: 600 }, 30_000);
    const ran = await db.sql<{ id: string }[]>`select id from ran order by id`;
    expect(ran.map(({ id }) => id)).toEqual(made.sort());
  });

  test('a job that kills its process fails, and its neighbours complete', async () => {
    const { id } = (await add(1, 'kills'))[0]!;
    let failed = false;
    const restarting = (async () => {
      while (!failed) {
        // A neighbour that is lost with it once or twice has to be away from it by the last time.
        const worker = await start({ ...settings, maxLost: 3 });
        await worker.call('work', { queue: 'q', concurrency: 4 }).catch(() => {});
        const seen = expect.poll(() => failed, { timeout: 25_000 }).toBe(true);
        await Promise.race([worker.ended, seen.catch(() => {})]);
      }
    })();
    await add(20, 'quick', { ms: 1 });
    await settledAs(counts, { failed: 1, completed: 20 }, 35_000).finally(() => (failed = true));
    await restarting;
    expect(await job(id)).toMatchObject({
      state: 'failed',
      last_error: 'worker lost 3 times',
      lost_count: 3,
      attempt: 0,
    });
    expect(await db.sql`select error from jobs.dlq where job_id = ${id}`).toEqual([
      { error: 'worker lost 3 times' },
    ]);
  });

  test('a handler that blocks its process keeps its job', async () => {
    const { id } = (await add(1, 'blocks', { ms: 4_000 }))[0]!;
    const blocked = await working();
    await settledAs(counts, { running: 1 });
    await working();
    await settledAs(counts, { completed: 1 });
    expect(await job(id)).toMatchObject({ output: blocked.pid, lost_count: 0, attempt: 1 });
  });

  test('a process that was stopped for too long loses its job, and its late result changes nothing', async () => {
    const { id } = (await add(1, 'waits'))[0]!;
    const stopped = await working();
    // A job that is claimed and has not begun would not begin any more.
    await stopped.call('running', 1);
    let finished = false;
    stopped.onMessage((message) => (finished ||= 'finished' in message));
    stopped.signal('SIGSTOP');
    const other = await working();
    await other.call('release');
    await settledAs(counts, { completed: 1 });
    stopped.signal('SIGCONT');
    await stopped.call('release');
    await expect.poll(() => finished).toBe(true);
    // The stopped process works again, under another lease.
    await other.close();
    await add(1, 'waits');
    await settledAs(counts, { completed: 2 });
    expect(await job(id)).toMatchObject({ output: other.pid, lost_count: 1 });
    expect(await counts()).toEqual({ completed: 2 });
  });

  test('the limit of a queue holds over all of them', async () => {
    await db.sql`insert into jobs.queue (app_id, name, max_concurrency) values ('default', 'q', 3)`;
    await Promise.all([working(), working(), working(), working()]);
    await add(60, 'quick', { ms: 15 });
    await settledAs(counts, { completed: 60 }, 30_000);
    const [row] = await db.sql`
      select max(at_once) as most, count(distinct pid)::integer as pids from (
        select pid, (select count(*) from ran as other where other.began <= ran.began and other.ended > ran.began) as at_once from ran
      ) as moments`;
    expect(row!['most']).toBe(3);
  });

  test('a pause stops what would start, and its end lets it', async () => {
    await db.sql`insert into jobs.queue (app_id, name, paused) values ('default', 'q', true)`;
    await working();
    await add(5, 'quick');
    await engine.enqueue({ name: 'quick', queue: 'q', app: 'shop', payload: {} });
    await settledAs(counts, { completed: 1, pending: 5 });
    await db.sql`update jobs.queue set paused = false`;
    await settledAs(counts, { completed: 6 });
  });
});

test.runIf(inject('engine') === 'pglite')(
  'an embedded database goes on with the jobs of a killed process as soon as it is opened again',
  async () => {
    const place = { url: undefined, dataDir: await migratedFolder([]) };
    const { start, kill } = engineProcesses(() => ({ options: place }));
    const killed = await start();
    await killed.call('work', { queue: 'q', concurrency: 100 });
    await killed.call('enqueue', { count: 100, name: 'waits', queue: 'q' });
    await killed.call('running', 100);
    await kill();
    const db = await openDatabase({ ...place, log });
    const { counts } = queries(() => db);
    expect(await counts()).toEqual({ running: 100 });
    const engine = createEngine({ db, log, settings });
    engine.handle('q', 'waits', () => {});
    await engine.start();
    await settledAs(counts, { completed: 100 });
    await engine.stop(1_000);
    await db.close();
  },
  60_000,
);
