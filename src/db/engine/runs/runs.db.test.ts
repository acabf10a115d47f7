import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { testDatabase, type TestDatabase } from '../../../testing/database.ts';
import { until } from '../../../testing/until.ts';
import { type Engine, JobFailure, StepFailed, type WorkflowCode } from '../index.ts';
import { engines, queries } from '../testing/queries.ts';
import { lockRun, storeSignal } from './outside.ts';
import { startRun } from './starting.ts';
import { workflowStore } from './workflows.store.ts';

let db: TestDatabase;
const { create, stop } = engines(() => db);
const { clear } = queries(() => db);
let engine: Engine;
beforeAll(async () => {
  db = await testDatabase();
});
afterEach(async () => {
  await stop();
  await clear();
});
afterAll(() => db.close());

/** Starts an engine that knows the code, and a run of it. */
async function begin(code: WorkflowCode, input: unknown = null, settings: object = {}): Promise<string> {
  engine = create({ pollMs: 50, ...settings });
  engine.workflow('w', 1, code, { max_attempts: 1 });
  await engine.start();
  return (await engine.startRun({ name: 'w', input })).id;
}

const run = async (id: string) => (await db.sql`select * from jobs.run where id = ${id}`)[0]!;
const ended = async (id: string) => {
  await until(async () => (await run(id)).state !== 'running');
  return run(id);
};
const signal = (id: string, name: string, payload: unknown) =>
  db.transaction(async (sql) => {
    const locked = await lockRun(sql, 'system', id);
    const given = { tenant_id: 'system', run_id: id, name, payload: JSON.stringify(payload), dedup: null };
    const { received } = await storeSignal(sql, locked, given);
    if (received)
      await sql`update jobs.job set run_at = now() where id = ${locked.job_id} and state = 'pending'`;
    return received;
  });

describe('a workflow', () => {
  test('is answered from its steps when it is resumed, and returns its output', async () => {
    const done: string[] = [];
    let failures = 0;
    const id = await begin(
      async (input, ctx) => {
        const paid = await ctx.step('charge', () => {
          done.push('charge');
          return { paid: input, at: new Date(0) };
        });
        await ctx.step(
          'ship',
          () => {
            done.push('ship');
            if (failures++ < 2) throw new Error('no parcel');
          },
          { backoff: { type: 'fixed', delay: '1s' } },
        );
        return { paid, moment: await ctx.now(), id: await ctx.uuid() };
      },
      { order: 7 },
    );
    const { output, state, current_step } = await ended(id);
    expect({ state, current_step }).toEqual({ state: 'completed', current_step: 'uuid' });
    expect(output).toMatchObject({ paid: { paid: { order: 7 }, at: '1970-01-01T00:00:00.000Z' } });
    expect(done).toEqual(['charge', 'ship', 'ship', 'ship']);
    expect(await db.sql`select name, state, attempt from jobs.step order by seq`).toEqual([
      { name: 'charge', state: 'completed', attempt: 1 },
      { name: 'ship', state: 'completed', attempt: 3 },
      { name: 'now', state: 'completed', attempt: 1 },
      { name: 'uuid', state: 'completed', attempt: 1 },
    ]);
  });

  test('hears of a step that failed for good, so that it can make amends', async () => {
    const id = await begin(async (_, ctx) => {
      try {
        await ctx.step('charge', () => {
          throw new JobFailure('card declined', { retryable: false });
        });
      } catch (error) {
        expect(error).toBeInstanceOf(StepFailed);
        await ctx.step('refund', () => 'refunded');
        throw error;
      }
    });
    expect(await ended(id)).toMatchObject({ state: 'failed', error: 'card declined' });
    expect(await db.sql`select name, state from jobs.step order by seq`).toEqual([
      { name: 'charge', state: 'failed' },
      { name: 'refund', state: 'completed' },
    ]);
    expect(await db.sql`select type from jobs.outbox order by type`).toEqual([
      { type: 'jobs.job.failed' },
      { type: 'jobs.workflow.failed' },
    ]);
  });

  test('runs steps side by side, and numbers names that come again', async () => {
    const id = await begin(async (_, ctx) => {
      const parts = await Promise.all([1, 2, 3].map((part) => ctx.step('part', () => part)));
      return parts.reduce((sum, part) => sum + part, 0);
    });
    expect(await ended(id)).toMatchObject({ output: 6 });
    expect((await db.sql`select name from jobs.step order by name`).map(({ name }) => name)).toEqual([
      'part',
      'part#2',
      'part#3',
    ]);
  });

  test('frees its slot while it sleeps, and wakes at the recorded time', async () => {
    let executions = 0;
    const id = await begin(async (_, ctx) => {
      executions++;
      await ctx.sleep('nap', '100ms');
      await ctx.sleep('night', '1h');
      return 'awake';
    });
    await until(async () => (await run(id)).waiting_for === 'timer');
    const { job_id, wake_at } = await run(id);
    expect(Date.parse(wake_at as string) - Date.now()).toBeGreaterThan(3_500_000);
    expect(await db.sql`select state, attempt from jobs.job where id = ${job_id as string}`).toEqual([
      { state: 'pending', attempt: 0 },
    ]);
    await db.sql`update jobs.step set wake_at = now() where name = 'night'`;
    await db.sql`update jobs.job set run_at = now()`;
    expect(await ended(id)).toMatchObject({ output: 'awake' });
    expect(executions).toBe(2);
  });

  test('receives signals in order, null after the time limit, and none is lost', async () => {
    const id = await begin(async (_, ctx) => {
      const first = await ctx.signal('parcel');
      const second = await ctx.signal('parcel');
      const late = await ctx.signal('other', { timeout: '50ms' });
      return [first, second, late];
    });
    await signal(id, 'parcel', 1);
    await signal(id, 'parcel', { two: 2 });
    expect(await ended(id)).toMatchObject({ output: [1, { two: 2 }, null] });
  });

  test('takes effect exactly once with its transaction', async () => {
    await db.sql`create table if not exists public.effects (n integer)`;
    let fails = true;
    const id = await begin(async (_, ctx) => {
      await ctx.tx('effect', async (tx) => {
        await tx`insert into public.effects values (1)`;
      });
      const job = await ctx.enqueue('mail', { queue: 'mails' });
      await ctx.step(
        'flaky',
        () => {
          if (fails) {
            fails = false;
            throw new Error('again');
          }
        },
        { backoff: { type: 'fixed', delay: '1s' } },
      );
      return job;
    });
    const { output } = await ended(id);
    expect(await db.sql`select count(*) from public.effects`).toEqual([{ count: 1 }]);
    expect(await db.sql`select id, origin_id from jobs.job where queue = 'mails'`).toEqual([
      { id: output, origin_id: id },
    ]);
    await db.sql`drop table public.effects`;
  });

  test('does not go on in code whose execution no longer counts', async () => {
    let caught = false;
    const gate = Promise.withResolvers<void>();
    const began = Promise.withResolvers<void>();
    const id = await begin(async (_, ctx) => {
      try {
        await ctx.step('long', () => {
          began.resolve();
          return gate.promise;
        });
      } catch {
        caught = true;
      }
    });
    await began.promise;
    await db.sql`update jobs.job set lease_id = 'lease_other' where queue = 'plinth.workflow.w.v1'`;
    gate.resolve();
    await until(async () => (await db.sql`select from jobs.step`).length === 0);
    await stop();
    expect(caught).toBe(false);
    expect((await run(id)).state).toBe('running');
  });

  test('of another version is left to those who have it', async () => {
    const id = await begin(() => 'one');
    await ended(id);
    const { id: job } = await engine.enqueue({
      name: 'w',
      queue: 'plinth.workflow.w.v2',
      payload: { run_id: 'x' },
    });
    await begin1(engine);
    expect(await db.sql`select state from jobs.job where id = ${job}`).toEqual([{ state: 'pending' }]);
  });
});

test('what a tenant has registered under the name of a workflow that code has is not executed by that code', async () => {
  const executed: string[] = [];
  // The tenant came first: later, the name is refused.
  const own = { tenant_id: 'acme', app_id: 'default', name: 'w', version: 1, source: 'http' as const };
  const terms = { description: '', max_attempts: 5, timeout_ms: 60_000 };
  const backoff = { backoff_type: 'fixed', backoff_delay_ms: 1_000, backoff_max_ms: 1_000 };
  await workflowStore(db.sql).put({ ...own, ...terms, ...backoff });
  const id = await begin((_, ctx) => void executed.push(ctx.run.tenant));
  await ended(id);
  const { id: theirs } = await db.transaction((sql) =>
    startRun(
      sql,
      { name: 'w' },
      { tenants: ['acme'], app: 'default' },
      { enqueue: (job, tx) => engine.enqueue(job, { tx }), maxPayload: 1_024 },
    ),
  );
  await begin1(engine);
  expect(executed).toEqual(['system', 'system']);
  expect(await run(theirs)).toMatchObject({ tenant_id: 'acme', state: 'running' });
  expect(
    await db.sql`select distinct queue from jobs.job union select queue from jobs.job_done order by queue`,
  ).toEqual([{ queue: 'plinth.workflow.w.v1' }, { queue: 'workflow.w.v1' }]);
});

/** Lets the engine execute one more run. */
async function begin1(one: Engine): Promise<void> {
  const { id } = await one.startRun({ name: 'w' });
  await ended(id);
}

test('a key makes one run, and ended runs go after their retention', async () => {
  const id = await begin(() => 'done');
  const [first, second] = await Promise.all([1, 2].map(() => engine.startRun({ name: 'w', key: 'k' })));
  expect(first!.id).toBe(second!.id);
  expect([first!.created, second!.created].sort()).toEqual([false, true]);
  await ended(id);
  await ended(first!.id);
  const { runStore } = await import('./runs.store.ts');
  expect(await runStore(db.sql).deleteOld(3_600_000, 10)).toBe(0);
  await db.sql`update jobs.run set completed_at = now() - interval '2 hours'`;
  expect(await runStore(db.sql).deleteOld(3_600_000, 10)).toBe(2);
  expect(await db.sql`select from jobs.step`).toHaveLength(0);
});
