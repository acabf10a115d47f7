import { describe, expect, it } from 'vitest';
import { behaviour, contract } from '../harness.ts';
import { absent, started, take, tooLarge, working } from './work.ts';

const name = 'order.fulfil';
const usedBefore = 'idempotency key was used with another body';

contract('Runs', (api) => {
  describe('list', () => {
    it('200 with the runs of the tenant', async () => {
      const tenant = api.tenant();
      const { id } = await started(tenant);
      expect((await tenant.plinth.jobs.runs.list()).map((run) => run.id)).toEqual([id]);
    });
  });

  describe('start', () => {
    it('201 with the run', async () => {
      const { jobs } = api.tenant().plinth;
      await jobs.workflows.put({ name, body: {} });
      const input = { order_id: 'o-4711' };
      const { data, response } = await jobs.runs.start({ body: { name, input } }).response();
      // The mock answers with the lowest success status.
      expect(response.status).toBe(api.target === 'mock' ? 200 : 201);
      expect(data).toMatchObject({ name, version: 1, input, state: 'running' });
    });

    it('404 when nobody has registered the workflow', () =>
      api
        .tenant()
        .refused(404, 'workflow not found', ({ jobs }) =>
          jobs.runs.start({ body: { name: 'order.return' } }),
        ));

    it('409 when the idempotency key was used with another body', async () => {
      const tenant = api.tenant();
      const { jobs } = tenant.plinth;
      const once = { idempotencyKey: 'once' };
      await jobs.workflows.put({ name, body: {} });
      await jobs.runs.start({ body: { name } }, once);
      await tenant.refused(409, usedBefore, (plinth) =>
        plinth.jobs.runs.start({ body: { name, priority: 1 } }, once),
      );
    });

    it('413 when the input is too large', async () => {
      const tenant = api.tenant();
      await tenant.plinth.jobs.workflows.put({ name, body: {} });
      await tenant.refused(413, 'input: must have at most 65536 bytes', ({ jobs }) =>
        jobs.runs.start({ body: { name, input: tooLarge } }),
      );
    });
  });

  describe('get', () => {
    it('200 with the run', async () => {
      const tenant = api.tenant();
      const { id } = await started(tenant);
      expect(await tenant.plinth.jobs.runs.get({ runId: id })).toMatchObject({ id, name, state: 'running' });
    });
  });

  describe('steps', () => {
    it('200 with the steps', async () => {
      const tenant = api.tenant();
      const { runId, leaseId } = await working(tenant);
      const { runs } = tenant.plinth.jobs;
      await runs.saveStep({ runId, step: 'charge', body: { lease_id: leaseId, output: 1 } });
      expect((await runs.steps({ runId })).map((step) => step.name)).toEqual(['charge']);
    });
  });

  describe('saveStep', () => {
    it('200 with the step', async () => {
      const tenant = api.tenant();
      const { runId, leaseId } = await working(tenant);
      const output = { payment_id: 'pay_1' };
      expect(
        await tenant.plinth.jobs.runs.saveStep({
          runId,
          step: 'charge',
          body: { lease_id: leaseId, output },
        }),
      ).toMatchObject({ name: 'charge', state: 'completed', attempt: 1, output, error: null });
    });

    it('400 with both an output and an error', async () => {
      const tenant = api.tenant();
      const { runId, leaseId } = await working(tenant);
      await tenant.refused(400, 'error: cannot be combined with output', ({ jobs }) =>
        jobs.runs.saveStep({ runId, step: 'charge', body: { lease_id: leaseId, output: 1, error: 'no' } }),
      );
    });

    it('409 when the lease does not hold the job of the run', async () => {
      const tenant = api.tenant();
      const { id } = await started(tenant);
      await tenant.refused(409, 'job is not held by this lease', ({ jobs }) =>
        jobs.runs.saveStep({ runId: id, step: 'charge', body: { lease_id: absent.lease } }),
      );
    });

    it('413 when the output is too large', async () => {
      const tenant = api.tenant();
      const { runId, leaseId } = await working(tenant);
      await tenant.refused(413, 'output: must have at most 65536 bytes', ({ jobs }) =>
        jobs.runs.saveStep({ runId, step: 'charge', body: { lease_id: leaseId, output: tooLarge } }),
      );
    });
  });

  describe('signal', () => {
    it('202 with a receipt', async () => {
      const tenant = api.tenant();
      const { id } = await started(tenant);
      const body = { name: 'parcel.handed-over', payload: { tracking_id: '1Z999' } };
      const { data, response } = await tenant.plinth.jobs.runs.signal({ runId: id, body }).response();
      expect([response.status, data]).toEqual([202, { accepted: true }]);
    });

    it('400 when the run has ended', async () => {
      const tenant = api.tenant();
      const { runId, leaseId, job } = await working(tenant);
      await tenant.plinth.jobs.jobs.complete({ jobId: job.id, body: { lease_id: leaseId } });
      await tenant.refused(400, 'run is completed', ({ jobs }) =>
        jobs.runs.signal({ runId, body: { name: 'parcel.handed-over' } }),
      );
    });

    it('409 when the idempotency key was used with another body', async () => {
      const tenant = api.tenant();
      const { id: runId } = await started(tenant);
      const once = { idempotencyKey: 'once' };
      await tenant.plinth.jobs.runs.signal({ runId, body: { name: 'one' } }, once);
      await tenant.refused(409, usedBefore, ({ jobs }) =>
        jobs.runs.signal({ runId, body: { name: 'two' } }, once),
      );
    });

    it('413 when the payload is too large', async () => {
      const tenant = api.tenant();
      const { id: runId } = await started(tenant);
      await tenant.refused(413, 'payload: must have at most 65536 bytes', ({ jobs }) =>
        jobs.runs.signal({ runId, body: { name: 'one', payload: tooLarge } }),
      );
    });
  });

  describe('cancel', () => {
    it('200 with the run, which has failed', async () => {
      const tenant = api.tenant();
      const { id: runId } = await started(tenant);
      const run = await tenant.plinth.jobs.runs.cancel({ runId });
      expect(run).toMatchObject({ id: runId, state: 'failed', error: 'cancelled' });
      expect(run.completed_at).not.toBeNull();
    });
  });

  describe('retry', () => {
    it('200 with the run, which goes on', async () => {
      const tenant = api.tenant();
      const { id: runId } = await started(tenant);
      await tenant.plinth.jobs.runs.cancel({ runId });
      expect(await tenant.plinth.jobs.runs.retry({ runId })).toMatchObject({
        id: runId,
        state: 'running',
        completed_at: null,
        error: null,
      });
    });

    it('400 when it has not failed', async () => {
      const tenant = api.tenant();
      const { id: runId } = await started(tenant);
      await tenant.refused(400, 'run is running', ({ jobs }) => jobs.runs.retry({ runId }));
    });
  });

  describe.each([
    ['get', {}],
    ['steps', {}],
    ['cancel', {}],
    ['retry', {}],
    ['signal', { body: { name: 'one' } }],
    ['saveStep', { step: 'charge', body: { lease_id: absent.lease } }],
  ] as const)('%s', (method, request) => {
    it('404 when it does not exist', () =>
      api.tenant().refused(404, 'run not found', async ({ jobs: { runs } }) => {
        await runs[method]({ runId: absent.run, ...request } as never);
      }));
  });
});

behaviour('Runs', (api) => {
  it('a key starts a run once, and then answers 200 with it', async () => {
    const { jobs } = api.tenant().plinth;
    await jobs.workflows.put({ name, body: {} });
    const first = await jobs.runs.start({ body: { name, key: 'o-4711' } });
    const { data, response } = await jobs.runs.start({ body: { name, key: 'o-4711', input: 2 } }).response();
    expect([response.status, data]).toEqual([200, first]);
  });

  it('the first output of a step wins, and the output of the job is that of the run', async () => {
    const tenant = api.tenant();
    const { jobs, runs } = tenant.plinth.jobs;
    const { runId, leaseId, job } = await working(tenant);
    const save = async (output: unknown) =>
      (await runs.saveStep({ runId, step: 'charge', body: { lease_id: leaseId, output } })).output;
    expect([await save('first'), await save('second')]).toEqual(['first', 'first']);
    await jobs.complete({ jobId: job.id, body: { lease_id: leaseId, output: { done: true } } });
    expect(await runs.get({ runId })).toMatchObject({ state: 'completed', output: { done: true } });
  });

  it('a retried run goes on from its recorded steps, with another job', async () => {
    const tenant = api.tenant();
    const { jobs, runs, dlq } = tenant.plinth.jobs;
    const { runId, leaseId, job } = await working(tenant);
    await runs.saveStep({ runId, step: 'charge', body: { lease_id: leaseId, output: 1 } });
    await jobs.fail({ jobId: job.id, body: { lease_id: leaseId, error: 'no stock', retryable: false } });
    expect(await runs.get({ runId })).toMatchObject({ state: 'failed', error: 'no stock' });
    const { job_id } = await runs.retry({ runId });
    expect((await take(tenant, job.queue)).job).toMatchObject({ id: job_id, payload: { run_id: runId } });
    expect(await runs.steps({ runId })).toMatchObject([{ name: 'charge', output: 1 }]);
    expect(await dlq.list()).toEqual([]);
  });

  it('a signal ends a wait, and a second one with the same id is ignored', async () => {
    const tenant = api.tenant();
    const { jobs, runs } = tenant.plinth.jobs;
    const { runId, leaseId, job } = await working(tenant);
    const wait = { lease_id: leaseId, delay: '1h', signal: 'parcel', step: 'ship' };
    await jobs.snooze({ jobId: job.id, body: wait });
    expect(await runs.get({ runId })).toMatchObject({ waiting_for: 'signal' });
    for (const payload of ['first', 'second'])
      await runs.signal({ runId, body: { name: 'parcel', payload, id: 'carrier-event-771' } });
    expect((await take(tenant, job.queue)).job.id).toBe(job.id);
    expect(await runs.steps({ runId })).toMatchObject([
      { name: 'ship', state: 'completed', output: 'first' },
    ]);
  });

  it('only the job that a run has now can be retried', async () => {
    const tenant = api.tenant();
    const { id: runId, job_id } = await started(tenant);
    await tenant.plinth.jobs.runs.cancel({ runId });
    await tenant.plinth.jobs.runs.retry({ runId });
    await tenant.refused(400, /^job cannot be retried/, ({ jobs }) => jobs.jobs.retry({ jobId: job_id }));
  });
});
