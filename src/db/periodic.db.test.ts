import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testDatabase, type TestDatabase } from '../testing/database.ts';
import { periodic } from './periodic.ts';

const log = pino({ level: 'silent' });
let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
});
afterAll(() => db.close());

test('of several processes one at a time runs, and none runs more often than the period', async () => {
  let running = 0;
  let most = 0;
  const starts: number[] = [];
  const sweep = () =>
    periodic({
      db,
      name: 'test.shared',
      everyMs: 50,
      log,
      async run() {
        starts.push(performance.now());
        most = Math.max(most, ++running);
        await db.sql`select pg_sleep(0.02)`;
        running--;
      },
    });
  const all = Array.from({ length: 5 }, sweep);
  await expect.poll(() => starts.length, { timeout: 10_000 }).toBeGreaterThanOrEqual(6);
  await Promise.all(all.map((each) => each.stop()));
  expect(most).toBe(1);
  for (const [index, start] of starts.entries()) {
    const before = starts[index - 1];
    // The period counts from the end of a run, less the tenth by which timers may be early.
    if (before !== undefined) expect(start - before).toBeGreaterThan(40);
  }
});

test('a run that throws is tried again', async () => {
  let runs = 0;
  const errors: unknown[] = [];
  const sweep = periodic({
    db,
    name: 'test.failing',
    everyMs: 10,
    log: { ...log, warn: (fields: unknown) => void errors.push(fields), debug() {}, info() {}, error() {} },
    async run() {
      if (++runs < 3) throw new Error(`run ${runs}`);
    },
  });
  await expect.poll(() => runs, { timeout: 10_000 }).toBeGreaterThanOrEqual(3);
  await sweep.stop();
  expect(errors).toHaveLength(2);
});

test('stop asks the run in flight to end and waits for it', async () => {
  let begun = false;
  let ended = false;
  const sweep = periodic({
    db,
    name: 'test.stopping',
    everyMs: 10,
    log,
    async run(signal) {
      begun = true;
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      await db.sql`select 1`;
      ended = true;
    },
  });
  await expect.poll(() => begun).toBe(true);
  await sweep.stop();
  expect(ended).toBe(true);
});

test('the lease of a process that died in the middle passes on when it has run out', async () => {
  const dead = '00000000-0000-4000-8000-000000000000';
  await db.sql`
    insert into plinth.leases (name, holder, expires_at, due_at) values ('test.dead', ${dead}, now() + interval '1 hour', now())
  `;
  let runs = 0;
  const sweep = periodic({ db, name: 'test.dead', everyMs: 10, log, run: async () => void runs++ });
  await db.sql`select pg_sleep(0.1)`;
  expect(runs).toBe(0);
  await db.sql`update plinth.leases set expires_at = now() where name = 'test.dead'`;
  await expect.poll(() => runs).toBeGreaterThan(0);
  await sweep.stop();
});
