import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import { testDatabase, type TestDatabase } from '../../../testing/database.ts';
import { createKilled, createRan, engineProcesses } from '../testing/processes.ts';
import { engines } from '../testing/queries.ts';

/** A short lease, so that the test need not wait for the usual one. */
const settings = { leaseMs: 2_000, pollMs: 100 };
const steps = 2;

describe.runIf(inject('engine') === 'postgres')('a run whose process is killed', () => {
  let db: TestDatabase;
  const { create, stop } = engines(() => db);
  const { start, kill } = engineProcesses(() => db);
  beforeAll(async () => {
    db = await testDatabase();
    await createRan(db);
    await createKilled(db);
  });
  afterEach(kill);
  afterAll(async () => {
    await stop();
    await db.close();
  });

  test('in every step and after every step, goes on elsewhere, and no recorded step is executed again', async () => {
    const worker = async () => {
      const one = await start(settings);
      await one.call('workflow', { steps });
      return one;
    };
    await worker();
    const { id } = await create().startRun({ name: 'dying' });
    const state = async () => (await db.sql`select state, output from jobs.run where id = ${id}`)[0]!;
    const deaths = async () => (await db.sql`select from killed`).length;
    for (let died = 1; died <= 2 * steps; died++) {
      await expect.poll(deaths, { timeout: 20_000 }).toBe(died);
      await worker();
    }
    await expect.poll(async () => (await state()).state, { timeout: 20_000 }).toBe('completed');
    const recorded = await db.sql`select output from jobs.step where name like 's%' order by seq`;
    expect((await state()).output).toEqual(recorded.map(({ output }) => output));
    // A process that died in a step had not recorded it: each step was begun twice, and no more.
    expect(await db.sql`select id, count(*) from ran group by id order by id`).toEqual(
      Array.from({ length: steps }, (_, at) => ({ id: `s${at}`, count: 2 })),
    );
    expect(await db.sql`select lost_count from jobs.job_done where origin_id = ${id}`).toEqual([
      { lost_count: 2 * steps },
    ]);
  }, 120_000);
});
