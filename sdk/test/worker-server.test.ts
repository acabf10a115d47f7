/** Workers and the real server: jobs of several workers, the death of one worker, and runs of workflows. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../src/testing/server.ts';
import {
  createPlinth,
  JobFailure,
  type Plinth,
  StepFailed,
  type Worker,
  type WorkerOptions,
  type WorkflowCode,
} from '../src/index.ts';

let server: TestServer;
let plinth: Plinth;
beforeAll(async () => {
  server = await testServer({ services: ['jobs'] });
  plinth = createPlinth({ baseUrl: server.url, token: server.rootToken });
});
afterAll(() => server.close());

const running: Worker[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((worker) => worker.stop(0)));
});

async function begin(options: WorkerOptions): Promise<Worker> {
  const worker = plinth.jobs.worker({ onError: () => {}, ...options });
  running.push(worker);
  await worker.start();
  return worker;
}

const newName = () => `n-${Math.random().toString(36).slice(2)}`;
const jobOf = (id: string) => plinth.jobs.jobs.get({ jobId: id });
const stateOf = async (id: string) => (await jobOf(id)).state;
const runOf = (id: string) => plinth.jobs.runs.get({ runId: id });

/** Starts a run of a workflow of the test's own, which this process executes. */
async function execute(code: WorkflowCode, input: unknown = null, definition: object = {}) {
  const name = newName();
  const worker = await begin({ workflows: { [name]: { ...definition, code } }, lease: '5s' });
  const { id } = await plinth.jobs.runs.start({ body: { name, input } });
  return { id, name, worker };
}

async function ended(id: string) {
  await expect.poll(async () => (await runOf(id)).state, { timeout: 20_000 }).not.toBe('running');
  return runOf(id);
}

const stepsOf = async (runId: string) => {
  const steps = await plinth.jobs.runs.steps({ runId });
  return steps.map(({ name, state, attempt }) => [name, state, attempt]);
};

describe('workers', () => {
  it('complete jobs, fail them and put them off', async () => {
    const queue = newName();
    let calls = 0;
    await begin({
      queues: {
        [queue]: {
          add: ({ payload }) => ({ sum: (payload['a'] as number) + (payload['b'] as number) }),
          refuse: () => {
            throw new JobFailure('never', { retryable: false });
          },
          again: () => {
            calls += 1;
            if (calls === 1) throw new JobFailure('not yet', { retryIn: '0s' });
            return calls;
          },
        },
      },
    });
    const ids = await Promise.all(
      ['add', 'refuse', 'again', 'unknown'].map(async (name) => {
        const body = { name, queue, payload: { a: 1, b: 2 }, ...(name === 'unknown' && { max_attempts: 1 }) };
        return (await plinth.jobs.jobs.create({ body })).id;
      }),
    );
    await expect
      .poll(() => Promise.all(ids.map(stateOf)))
      .toEqual(['completed', 'failed', 'completed', 'failed']);
    const jobs = await Promise.all(ids.map(jobOf));
    expect(jobs.map(({ output, last_error, attempt }) => [output, last_error, attempt])).toEqual([
      [{ sum: 3 }, null, 1],
      [null, 'never', 1],
      [2, 'not yet', 2],
      [null, 'no handler for job unknown', 1],
    ]);
  });

  it('share many jobs, and execute each once', async () => {
    const queue = newName();
    const executed: string[] = [];
    const queues = { [queue]: { count: ({ id }: { id: string }) => void executed.push(id) } };
    await Promise.all([begin({ queues, concurrency: 50 }), begin({ queues, concurrency: 50 })]);
    const body = { jobs: Array.from({ length: 400 }, () => ({ name: 'count', queue })) };
    const { jobs } = await plinth.jobs.jobs.createBatch({ body });
    await expect
      .poll(async () => (await plinth.jobs.jobs.counts({ queue })).completed, { timeout: 20_000 })
      .toBe(400);
    expect(executed.toSorted()).toEqual(jobs.map(({ id }) => id).toSorted());
  });

  it('give back jobs when they stop, at once and without counting the attempt', async () => {
    const queue = newName();
    const { id } = await plinth.jobs.jobs.create({ body: { name: 'long', queue } });
    const hangs = () => new Promise(() => {});
    const worker = await begin({ queues: { [queue]: { long: hangs } } });
    await expect.poll(() => stateOf(id)).toBe('running');
    await worker.stop(10);
    expect(await jobOf(id)).toMatchObject({ state: 'pending', attempt: 0, lost_count: 0 });
    await begin({ queues: { [queue]: { long: () => 'done' } } });
    await expect.poll(() => stateOf(id)).toBe('completed');
  });

  it('take over the jobs of one that was killed', async () => {
    const queue = newName();
    const { id } = await plinth.jobs.jobs.create({ body: { name: 'long', queue } });
    const program = `
      import { createPlinth } from ${JSON.stringify(new URL('../src/index.ts', import.meta.url).href)};
      const plinth = createPlinth({ baseUrl: '${server.url}', token: '${server.rootToken}' });
      const long = () => new Promise(() => console.log('begun'));
      await plinth.jobs.worker({ queues: { '${queue}': { long } }, lease: '5s', name: 'victim' }).start();`;
    const victim = spawn(process.execPath, ['--input-type=module-typescript', '-e', program]);
    await once(victim.stdout, 'data');
    expect(await jobOf(id)).toMatchObject({ state: 'running', worker: 'victim' });
    await begin({ queues: { [queue]: { long: ({ attempt }) => ({ attempt }) } } });
    victim.kill('SIGKILL');
    await expect.poll(() => stateOf(id), { timeout: 20_000 }).toBe('completed');
    expect(await jobOf(id)).toMatchObject({ output: { attempt: 1 }, lost_count: 1 });
  });

  it('hear that a job was cancelled while they execute it', async () => {
    let executedOn = false;
    const { id } = await execute(async (_, run) => {
      await run.step(
        'long',
        ({ signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve(1))),
      );
      executedOn = true;
    });
    await expect.poll(async () => (await jobOf((await runOf(id)).job_id)).state).toBe('running');
    await plinth.jobs.runs.cancel({ runId: id });
    await expect
      .poll(() => plinth.jobs.runs.get({ runId: id }))
      .toMatchObject({ state: 'failed', error: 'cancelled' });
    await running[0]?.stop(5_000);
    expect([executedOn, await stepsOf(id)]).toEqual([false, []]);
  });
});

describe('a workflow', () => {
  it('records its steps, retries those that fail, and numbers names that come again', async () => {
    const done: string[] = [];
    let failures = 0;
    const { id } = await execute(
      async (input, run) => {
        const paid = await run.step('charge', () => {
          done.push('charge');
          return { paid: input, at: new Date(0) };
        });
        await run.step(
          'ship',
          ({ attempt }) => {
            done.push(`ship ${attempt}`);
            if ((failures += 1) <= 2) throw new JobFailure('no driver', { retryIn: '0s' });
          },
          { timeout: '1m' },
        );
        const parts = await Promise.all([1, 2].map((part) => run.step('part', () => part)));
        return { paid, parts, now: await run.now(), uuid: await run.uuid() };
      },
      { order: 7 },
    );
    const { output, state } = await ended(id);
    expect(state).toBe('completed');
    expect(output).toMatchObject({
      paid: { paid: { order: 7 }, at: '1970-01-01T00:00:00.000Z' },
      parts: [1, 2],
      now: expect.stringMatching(/Z$/),
      uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect(done).toEqual(['charge', 'ship 1', 'ship 2', 'ship 3']);
    expect(await stepsOf(id)).toEqual(
      expect.arrayContaining([
        ['charge', 'completed', 1],
        ['ship', 'completed', 3],
        ['part', 'completed', 1],
        ['part#2', 'completed', 1],
      ]),
    );
  });

  it('hears of a step that failed for good, so that it can make amends', async () => {
    const { id } = await execute(
      async (_, run) => {
        try {
          await run.step('charge', () => Promise.reject(new Error('card declined')), { maxAttempts: 1 });
        } catch (error) {
          expect(error).toBeInstanceOf(StepFailed);
          await run.step('refund', () => 'refunded');
          throw error;
        }
      },
      null,
      { max_attempts: 1 },
    );
    expect(await ended(id)).toMatchObject({ state: 'failed', error: 'card declined' });
    expect(await stepsOf(id)).toEqual([
      ['charge', 'failed', 1],
      ['refund', 'completed', 1],
    ]);
  });

  it('sleeps, occupying nothing while it is long, and does not return to the code that it left', async () => {
    let executions = 0;
    let left = 0;
    const { id } = await execute(async (_, run) => {
      executions += 1;
      try {
        await run.sleep('nap', '100ms');
        await run.sleep('night', '6s');
        await run.sleepUntil('moment', new Date(0));
      } finally {
        left += 1;
      }
      return 'awake';
    });
    await expect.poll(() => runOf(id)).toMatchObject({ waiting_for: 'timer' });
    const { job_id, wake_at } = await runOf(id);
    expect(await jobOf(job_id)).toMatchObject({ state: 'pending', attempt: 0 });
    const { output, completed_at } = await ended(id);
    expect({ output, executions, left }).toEqual({ output: 'awake', executions: 2, left: 1 });
    expect(Date.parse(completed_at!)).toBeGreaterThanOrEqual(Date.parse(wake_at!) - 5);
  });

  it('receives signals in order, those that came before too, and null after the time limit', async () => {
    const { id } = await execute(async (_, run) => [
      await run.signal('parcel'),
      await run.signal('parcel'),
      await run.signal('other', { timeout: '50ms' }),
    ]);
    const send = (payload: unknown) =>
      plinth.jobs.runs.signal({ runId: id, body: { name: 'parcel', payload } });
    await send(1);
    await expect.poll(() => runOf(id)).toMatchObject({ waiting_for: 'signal', current_step: 'parcel#2' });
    await send({ two: 2 });
    expect(await ended(id)).toMatchObject({ output: [1, { two: 2 }, null] });
  });

  it('waits for several things at once', async () => {
    const { id } = await execute((_, run) =>
      Promise.race([
        Promise.all([run.signal('a'), run.signal('b')]),
        run.sleep('too-long', '1h').then(() => 'too late'),
      ]),
    );
    await expect
      .poll(async () => (await stepsOf(id)).filter(([, state]) => state === 'waiting').length)
      .toBe(2);
    for (const name of ['b', 'a'])
      await plinth.jobs.runs.signal({ runId: id, body: { name, payload: name } });
    expect(await ended(id)).toMatchObject({ output: ['a', 'b'] });
  });

  it('enqueues a job once, although its execution is repeated', async () => {
    const queue = newName();
    const ids = new Set<string>();
    const { id } = await execute(async (_, run) => {
      const job = await run.enqueue('mail', { queue, payload: { n: 1 } });
      ids.add(job);
      if (ids.size === 1)
        await run.step(
          'flaky',
          ({ attempt }) => attempt > 1 || Promise.reject(new JobFailure('x', { retryIn: '0s' })),
        );
      return job;
    });
    const { output } = await ended(id);
    const jobs = await plinth.jobs.jobs.list({ queue });
    expect(jobs.map((job) => job.id)).toEqual([output]);
    expect(ids.size).toBe(1);
  });

  it('hears of an output that the server does not take', async () => {
    const { id } = await execute(async (_, run) => {
      const text = await run.step('huge', () => 'x'.repeat(70_000)).catch((error: Error) => error.message);
      return text.length < 1_000 && text;
    });
    expect(await ended(id)).toMatchObject({ output: expect.stringContaining('65536') });
  });

  it('goes on in another worker when its own stops', async () => {
    let isFirst = true;
    const charged: number[] = [];
    const code: WorkflowCode = async (_, run) => {
      await run.step('charge', () => charged.push(1));
      return run.step('ship', ({ attempt, signal }) => {
        if (!isFirst) return attempt;
        isFirst = false;
        return new Promise<number>((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(new Error('aborted'))),
        );
      });
    };
    const { id, name, worker } = await execute(code);
    await expect.poll(() => isFirst).toBe(false);
    await worker.stop(10);
    await begin({
      workflows: {
        [name]: [
          { version: 1, code },
          { version: 2, code },
        ],
      },
    });
    expect(await ended(id)).toMatchObject({ state: 'completed', output: 1 });
    expect(charged).toEqual([1]);
    expect(await stepsOf(id)).toEqual([
      ['charge', 'completed', 1],
      ['ship', 'completed', 1],
    ]);
  });
});
