/** Runs of workflows that a worker executes for the real server. */
import { describe, expect, it } from 'vitest';
import { JobFailure, StepFailed, type WorkflowCode } from '../src/index.ts';
import { begin, ended, execute, jobOf, newName, plinth, runOf, stepsOf } from './worker-server-tools.ts';

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
