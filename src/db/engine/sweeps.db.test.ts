import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';
import { testDatabase, type TestDatabase } from '../../testing/database.ts';
import type { Log } from '../log.ts';
import type { Sweep } from '../sweeps.ts';
import { createSweeps, type Sweeps } from './sweeps.ts';
import { engineProcesses } from './testing/processes.ts';
import { engines } from './testing/queries.ts';

const silent = pino({ level: 'silent' });
let db: TestDatabase;
const { start, kill } = engineProcesses(() => db);
const { create, stop } = engines(() => db);
let open: Sweeps[] = [];
beforeAll(async () => {
  db = await testDatabase();
});
afterEach(async () => {
  await Promise.all(open.map((sweeps) => sweeps.stop()));
  open = [];
  await stop();
  await kill();
  await db.sql`delete from jobs.sweep`;
  await db.sql`delete from jobs.lease`;
});
afterAll(() => db.close());

const sweep = (name: string, everyMs: number, run: (signal: AbortSignal) => Promise<unknown>): Sweep => ({
  name,
  everyMs,
  batch: 1,
  steps: [
    async (_, signal) => {
      await run(signal!);
      return 0;
    },
  ],
});

/** Starts the sweeps of a made-up process with a lease of this name. */
async function process(lease: string, all: readonly Sweep[], log: Log = silent): Promise<Sweeps> {
  await db.sql`
    insert into jobs.lease (id, kind, tenant_id, app_id, worker, expires_at)
    values (${lease}, 'process', 'system', 'default', ${lease}, now() + interval '1 hour')`;
  const sweeps = createSweeps({ db, log, leases: { id: () => lease, isSafe: () => true } });
  open.push(sweeps);
  for (const one of all) sweeps.declare(one);
  sweeps.start();
  return sweeps;
}

test('of several processes one at a time runs, and none runs more often than the period', async () => {
  let running = 0;
  let most = 0;
  const starts: number[] = [];
  const shared = () =>
    sweep('test.shared', 50, async () => {
      starts.push(performance.now());
      most = Math.max(most, ++running);
      await db.sql`select pg_sleep(0.02)`;
      running--;
    });
  await Promise.all(Array.from({ length: 5 }, (_, at) => process(`lease_${at}`, [shared()])));
  await expect.poll(() => starts.length, { timeout: 10_000 }).toBeGreaterThanOrEqual(6);
  expect(most).toBe(1);
  for (const [index, start] of starts.entries()) {
    const before = starts[index - 1];
    // The period counts from the end of a run.
    if (before !== undefined) expect(start - before).toBeGreaterThan(60);
  }
});

test('a run that throws is tried again', async () => {
  let runs = 0;
  const errors: unknown[] = [];
  const log = {
    ...silent,
    warn: (fields: unknown) => void errors.push(fields),
    debug() {},
    info() {},
    error() {},
  };
  const failing = sweep('test.failing', 10, async () => {
    if (++runs < 3) throw new Error(`run ${runs}`);
  });
  await process('lease', [failing], log);
  await expect.poll(() => runs, { timeout: 10_000 }).toBeGreaterThanOrEqual(3);
  expect(errors).toHaveLength(2);
});

test('a rare one that throws is tried again after seconds, not after its period', async () => {
  let runs = 0;
  await process('lease', [
    sweep('test.rare', 86_400_000, async () => {
      if (++runs < 2) throw new Error('once');
    }),
  ]);
  await expect.poll(() => runs, { timeout: 10_000 }).toBe(2);
});

test('stop asks the run in flight to end and waits for it, and what it leaves is due at once', async () => {
  let begun = false;
  let ended = false;
  const sweeps = await process('lease', [
    sweep('test.stopping', 60_000, async (signal) => {
      begun = true;
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      await db.sql`select 1`;
      ended = true;
    }),
  ]);
  await expect.poll(() => begun).toBe(true);
  await sweeps.stop();
  expect(ended).toBe(true);
  expect(await db.sql`select name, lease_id, due_at <= now() as due from jobs.sweep`).toEqual([
    { name: 'test.stopping', lease_id: null, due: true },
  ]);
});

test('what a process held runs elsewhere when its lease has ended, and not before', async () => {
  await db.sql`insert into jobs.lease (id, kind, tenant_id, app_id, worker, expires_at)
    values ('lease_dead', 'process', 'system', 'default', 'dead', now())`;
  await db.sql`insert into jobs.sweep (name, lease_id) values ('test.dead', 'lease_dead')`;
  let runs = 0;
  const sweeps = await process('lease_living', [sweep('test.dead', 60_000, async () => void runs++)]);
  await delay(100);
  expect(runs).toBe(0);
  await db.sql`delete from jobs.lease where id = 'lease_dead'`;
  sweeps.declare(sweep('test.other', 60_000, async () => {}));
  await expect.poll(() => runs).toBe(1);
});

test('a run whose lease has ended is asked to end, and changes nothing any more', async () => {
  let asked = false;
  const sweeps = await process('lease', [
    sweep('test.lost', 60_000, async (signal) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      asked = true;
    }),
  ]);
  await expect.poll(() => db.sql`select name from jobs.sweep where lease_id = 'lease'`).toHaveLength(1);
  await db.sql`update jobs.sweep set lease_id = 'lease_next'`;
  sweeps.drop('lease');
  await expect.poll(() => asked).toBe(true);
  await sweeps.stop();
  expect(await db.sql`select lease_id from jobs.sweep`).toEqual([{ lease_id: 'lease_next' }]);
});

test('a sweep whose taking was not heard of is taken again', async () => {
  await db.sql`insert into jobs.sweep (name, lease_id) values ('test.unheard', 'lease')`;
  let runs = 0;
  await process('lease', [sweep('test.unheard', 60_000, async () => void runs++)]);
  await expect.poll(() => runs).toBe(1);
});

test('with the engine off nothing runs', async () => {
  let runs = 0;
  const engine = create({ engine: 'off' });
  engine.sweep(sweep('test.off', 10, async () => void runs++));
  await engine.start();
  await delay(200);
  expect(runs).toBe(0);
});

test.runIf(inject('engine') === 'postgres')(
  'the sweep of a killed process runs again, as soon as its lease has ended',
  { timeout: 60_000 },
  async () => {
    await db.sql`create table if not exists swept (pid integer not null, at timestamptz not null default clock_timestamp())`;
    const worker = await start({ leaseMs: 2_000 });
    await worker.call('sweep', { name: 'test.killed', everyMs: 60_000 });
    const swept = () => db.sql<{ pid: number }[]>`select pid from swept order by at`;
    await expect.poll(swept, { timeout: 10_000 }).toHaveLength(1);
    const heir = await start({ leaseMs: 2_000 });
    await heir.call('sweep', { name: 'test.killed', everyMs: 60_000 });
    await delay(500);
    expect(await swept()).toHaveLength(1);
    await worker.kill();
    await expect.poll(swept, { timeout: 20_000 }).toEqual([{ pid: worker.pid }, { pid: heir.pid }]);
  },
);
