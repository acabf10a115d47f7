/** Workers and the real server: jobs of several workers, and the death of one of them. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { JobFailure } from '../src/index.ts';
import {
  begin,
  execute,
  jobOf,
  newName,
  plinth,
  running,
  runOf,
  server,
  stateOf,
  stepsOf,
} from './worker-server-tools.ts';

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
