import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WorkflowRun } from '../../../generated/jobs/types.ts';
import { testServer, type TestServer } from '../../testing/server.ts';
import { newQueue, tools } from './testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['jobs'] });
  api = tools(server);
});
afterAll(() => server.close());

/** Registers a workflow of its own and starts a run. */
async function begin(body: object = {}, workflow: object = {}): Promise<{ run: WorkflowRun; queue: string }> {
  const name = newQueue();
  const { queue } = await api.send('PUT', `/workflows/${name}`, { body: workflow });
  return { queue, run: await api.post('/workflows/runs', { name, ...body }) };
}

const save = (run: string, step: string, body: object) =>
  api.send('PUT', `/workflows/runs/${run}/steps/${step}`, { body });

describe('a workflow', () => {
  it('is registered by version, and a run takes the highest one', async () => {
    const name = newQueue();
    expect(await api.send('PUT', `/workflows/${name}`, { body: { description: 'Charge' } })).toMatchObject({
      name,
      version: 1,
      queue: `workflow.${name}.v1`,
      source: 'http',
      max_attempts: 5,
    });
    await api.send('PUT', `/workflows/${name}`, { body: { version: 3, timeout: '1h' } });
    expect(await api.send('GET', `/workflows/${name}`)).toMatchObject({ version: 3, timeout: '1h' });
    expect((await api.send('GET', '/workflows')).names).toContain(name);
    expect(await api.post('/workflows/runs', { name })).toMatchObject({ version: 3 });
    expect(await api.post('/workflows/runs', { name, version: 1 })).toMatchObject({ version: 1 });
    expect(await api.refusal('POST', '/workflows/runs', { body: { name, version: 2 } })).toEqual([
      404,
      'workflow not found',
    ]);
    expect((await api.refusal('GET', `/workflows/${name}`, { tenant: 'acme' }))[0]).toBe(404);
    await api.send('DELETE', `/workflows/${name}`);
    expect(await api.refusal('DELETE', `/workflows/${name}`)).toEqual([404, 'workflow not found']);
  });
});

describe('a run', () => {
  it('is one for each key, also when it is started many times at once', async () => {
    const name = newQueue();
    await api.send('PUT', `/workflows/${name}`, { body: {} });
    const started = await Promise.all(
      Array.from({ length: 20 }, () =>
        server.request('POST', '/jobs/v1/workflows/runs', { body: { name, key: 'o-4711', input: { n: 1 } } }),
      ),
    );
    expect(started.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(new Set(started.map(({ body }) => body.id)).size).toBe(1);
    expect(started.map(({ status }) => status).every((status) => status === 200 || status === 201)).toBe(
      true,
    );
    expect(await api.send('GET', `/workflows/runs?name=${name}&state=running`)).toMatchObject([
      { key: 'o-4711', input: { n: 1 }, output: null, current_step: null },
    ]);
  });

  it('records each step once and ends with its job', async () => {
    const { run, queue } = await begin({ input: [1, 2] });
    const { lease, job } = await api.take(queue);
    expect(job).toMatchObject({ payload: { run_id: run.id }, origin_id: run.id });
    const first = await save(run.id, 'charge', { lease_id: lease, output: { payment: 1 } });
    expect(first).toMatchObject({ state: 'completed', attempt: 1, output: { payment: 1 } });
    expect(await save(run.id, 'charge', { lease_id: lease, output: { payment: 2 } })).toEqual(first);
    await save(run.id, 'notify', { lease_id: lease, output: null });
    expect(await api.run(run.id)).toMatchObject({ state: 'running', current_step: 'notify' });
    const steps = await api.send('GET', `/workflows/runs/${run.id}/steps`);
    expect(steps.map(({ name }: { name: string }) => name)).toEqual(['charge', 'notify']);
    await api.post(`/jobs/${job.id}/complete`, { lease_id: lease, output: 'shipped' });
    expect(await api.run(run.id)).toMatchObject({ state: 'completed', output: 'shipped', error: null });
    expect(await api.refusal('POST', `/workflows/runs/${run.id}/signals`, { body: { name: 's' } })).toEqual([
      400,
      'run is completed',
    ]);
    expect(await api.refusal('POST', `/workflows/runs/${run.id}/cancel`)).toEqual([400, 'run is completed']);
  });

  it('is put off by a step that is to be repeated, and not by one that failed for good', async () => {
    const { run, queue } = await begin();
    const { lease } = await api.take(queue);
    const both = { lease_id: lease, output: 1, error: 'x' };
    expect(await api.refusal('PUT', `/workflows/runs/${run.id}/steps/charge`, { body: both })).toEqual([
      400,
      'error: cannot be combined with output',
    ]);
    expect(await save(run.id, 'charge', { lease_id: lease, error: 'down', retry_in: '0s' })).toMatchObject({
      state: 'retrying',
      attempt: 1,
      error: 'down',
    });
    expect(
      await api.refusal('PUT', `/workflows/runs/${run.id}/steps/x`, { body: { lease_id: lease } }),
    ).toEqual([409, 'job is not held by this lease']);
    const second = await api.take(queue);
    expect(second.job.attempt).toBe(1);
    expect(
      await save(run.id, 'charge', { lease_id: second.lease, error: 'gone', retryable: false }),
    ).toMatchObject({ state: 'failed', attempt: 2, error: 'gone' });
    await save(run.id, 'refund', { lease_id: second.lease, output: true });
    await api.post(`/jobs/${second.job.id}/fail`, {
      lease_id: second.lease,
      error: 'gone',
      retryable: false,
    });
    expect(await api.run(run.id)).toMatchObject({ state: 'failed', error: 'gone' });
    const again = await api.post(`/workflows/runs/${run.id}/retry`);
    expect(again).toMatchObject({ state: 'running', error: null, completed_at: null });
    expect(again.job_id).not.toBe(run.job_id);
    expect(await api.send('GET', `/dlq?queue=${queue}`)).toEqual([]);
    const steps = await api.send('GET', `/workflows/runs/${run.id}/steps`);
    expect(steps.map(({ name }: { name: string }) => name)).toEqual(['refund']);
    expect((await api.take(queue)).job.id).toBe(again.job_id);
  });

  it('goes on with the job of a replayed dead letter', async () => {
    const { run, queue } = await begin({}, { max_attempts: 1 });
    const { lease, job } = await api.take(queue);
    await api.post(`/jobs/${job.id}/fail`, { lease_id: lease, error: 'no' });
    expect(await api.run(run.id)).toMatchObject({ state: 'failed', error: 'no' });
    const [letter] = await api.send('GET', `/dlq?queue=${queue}`);
    const replayed = await api.post(`/dlq/${letter.id}/replay`);
    expect(await api.run(run.id)).toMatchObject({ state: 'running', job_id: replayed.id });
  });

  it('is cancelled, while it waits and while it is executed', async () => {
    const waiting = await begin();
    expect(await api.post(`/workflows/runs/${waiting.run.id}/cancel`)).toMatchObject({
      state: 'failed',
      error: 'cancelled',
    });
    expect(await api.job(waiting.run.job_id)).toMatchObject({ state: 'cancelled' });
    const { run, queue } = await begin();
    const { lease, job } = await api.take(queue);
    await api.post(`/workflows/runs/${run.id}/cancel`);
    expect((await api.refusal('POST', `/jobs/${job.id}/complete`, { body: { lease_id: lease } }))[0]).toBe(
      409,
    );
    expect(await api.post(`/leases/${lease}/heartbeat`)).toMatchObject({ lost: [job.id] });
    const byJob = await begin();
    await api.post(`/jobs/${byJob.run.job_id}/cancel`);
    expect(await api.run(byJob.run.id)).toMatchObject({ state: 'failed', error: 'cancelled' });
    expect(await api.post(`/jobs/${byJob.run.job_id}/retry`)).toMatchObject({ state: 'pending' });
    expect(await api.run(byJob.run.id)).toMatchObject({ state: 'running', error: null });
  });

  it('is never executed by two jobs', async () => {
    const { run } = await begin();
    await api.post(`/workflows/runs/${run.id}/cancel`);
    const again = await api.post(`/workflows/runs/${run.id}/retry`);
    expect(again.job_id).not.toBe(run.job_id);
    expect(await api.refusal('POST', `/jobs/${run.job_id}/retry`)).toEqual([
      400,
      'job cannot be retried: its run has another job, or is gone',
    ]);
    expect(await api.job(run.job_id)).toMatchObject({ state: 'cancelled' });
  });

  it('of another tenant is absent', async () => {
    const { run } = await begin();
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['GET', '/steps', undefined],
      ['POST', '/cancel', undefined],
      ['POST', '/retry', undefined],
      ['POST', '/signals', { name: 's' }],
      ['PUT', '/steps/s', { lease_id: 'lease_01h455vb4pex5vsknk084sn02q' }],
    ] as const)
      expect(
        await api.refusal(method, `/workflows/runs/${run.id}${path}`, {
          tenant: 'bolt',
          ...(body === undefined ? {} : { body }),
        }),
      ).toEqual([404, 'run not found']);
  });
});

describe('a signal', () => {
  const wait = async (lease: string, job: string, body: object) =>
    api.post(`/jobs/${job}/snooze`, { lease_id: lease, signal: 'parcel', step: 'ship', ...body });

  it('before the wait lets the run go on at once, and during the wait wakes it', async () => {
    const { run, queue } = await begin();
    const signal = (payload: unknown, id?: string) =>
      api.post(`/workflows/runs/${run.id}/signals`, { name: 'parcel', payload, id: id ?? null });
    expect(await signal('early')).toEqual({ accepted: true });
    const first = await api.take(queue);
    await wait(first.lease, first.job.id, { delay: '1h' });
    const second = await api.take(queue);
    const steps = () => api.send('GET', `/workflows/runs/${run.id}/steps`);
    expect(await steps()).toMatchObject([{ name: 'ship', state: 'completed', output: 'early' }]);
    await wait(second.lease, second.job.id, { delay: '1h', step: 'ship2' });
    expect(await api.run(run.id)).toMatchObject({ waiting_for: 'signal' });
    expect((await api.run(run.id)).wake_at).not.toBeNull();
    const third = api.take(queue);
    await signal({ late: true }, 'once');
    await signal({ again: true }, 'once');
    await third;
    expect(await api.run(run.id)).toMatchObject({ waiting_for: null, wake_at: null });
    expect((await steps())[1]).toMatchObject({ name: 'ship2', output: { late: true } });
  });

  it('is neither lost nor received twice, in races with the wait', async () => {
    for (let round = 0; round < 30; round++) {
      const { run, queue } = await begin();
      const { lease, job } = await api.take(queue);
      await Promise.all([
        wait(lease, job.id, { delay: '1h' }),
        api.post(`/workflows/runs/${run.id}/signals`, { name: 'parcel', payload: round }),
      ]);
      await api.take(queue);
      expect(await api.send('GET', `/workflows/runs/${run.id}/steps`)).toMatchObject([{ output: round }]);
    }
  });

  it('has at most 64 KiB', async () => {
    const { run } = await begin();
    const body = { name: 's', payload: 'x'.repeat(65_536) };
    expect(await api.refusal('POST', `/workflows/runs/${run.id}/signals`, { body })).toEqual([
      413,
      'payload: must have at most 65536 bytes',
    ]);
  });
});
