import { describe, expect, it } from 'vitest';
import { behaviour, contract } from '../harness.ts';
import { absent, enqueue, newQueue, take, taken, tooLarge } from './work.ts';

const mail = {
  name: 'email.send',
  queue: 'emails',
  payload: { to: 'ada@example.com', template: 'welcome' },
  tags: ['signup'],
};
const usedBefore = 'idempotency key was used with another body';

contract('Jobs', (api) => {
  describe('create', () => {
    it('201 with the job', async () => {
      const { data, response } = await api.tenant().plinth.jobs.jobs.create({ body: mail }).response();
      // The mock answers with the lowest success status.
      expect(response.status).toBe(api.target === 'mock' ? 200 : 201);
      expect(data).toMatchObject({ ...mail, state: 'pending', attempt: 0, origin_id: null });
    });

    it('403 when it names a tenant that is not the caller’s own', async () => {
      const key = await api.tenant().withKey(['jobs:write']);
      await key.refused(403, "scope_org_id: not the caller's own", ({ jobs }) =>
        jobs.jobs.create({ body: { ...mail, scope_org_id: 'acme' } }),
      );
    });

    it('409 when the idempotency key was used with another body', async () => {
      const tenant = api.tenant();
      const once = { idempotencyKey: 'once' };
      await tenant.plinth.jobs.jobs.create({ body: mail }, once);
      await tenant.refused(409, usedBefore, ({ jobs }) =>
        jobs.jobs.create({ body: { ...mail, priority: 1 } }, once),
      );
    });

    it('413 when the payload is too large', () =>
      api
        .tenant()
        .refused(413, 'payload: must have at most 65536 bytes', ({ jobs }) =>
          jobs.jobs.create({ body: { ...mail, payload: tooLarge } }),
        ));
  });

  describe('createBatch', () => {
    it('201 with the jobs, in order', async () => {
      const other = { ...mail, payload: { to: 'alan@example.com', template: 'welcome' } };
      const { jobs } = await api.tenant().plinth.jobs.jobs.createBatch({ body: { jobs: [mail, other] } });
      expect(jobs).toMatchObject([mail, other]);
    });

    it('409 when the idempotency key was used with another body', async () => {
      const tenant = api.tenant();
      const once = { idempotencyKey: 'once' };
      await tenant.plinth.jobs.jobs.createBatch({ body: { jobs: [mail] } }, once);
      await tenant.refused(409, usedBefore, ({ jobs }) =>
        jobs.jobs.createBatch({ body: { jobs: [mail, mail] } }, once),
      );
    });
  });

  describe('list', () => {
    it('200 with the jobs of the tenant', async () => {
      const tenant = api.tenant();
      const { id } = await enqueue(tenant, 'emails');
      expect((await tenant.plinth.jobs.jobs.list()).map((job) => job.id)).toContain(id);
    });
  });

  describe('counts', () => {
    it('200 with every state', async () => {
      expect(Object.keys(await api.tenant().plinth.jobs.jobs.counts()).sort()).toEqual([
        'cancelled',
        'completed',
        'failed',
        'pending',
        'retrying',
        'running',
      ]);
    });
  });

  describe('get', () => {
    it('200 with the job', async () => {
      const tenant = api.tenant();
      const { id } = await tenant.plinth.jobs.jobs.create({ body: mail });
      expect(await tenant.plinth.jobs.jobs.get({ jobId: id })).toMatchObject({ id, ...mail });
    });

    it('404 when it does not exist', () =>
      api.tenant().refused(404, 'job not found', ({ jobs }) => jobs.jobs.get({ jobId: absent.job })));
  });

  describe('cancelMany', () => {
    it('200 with the number of those that were cancelled', async () => {
      const result = await api.tenant().plinth.jobs.jobs.cancelMany({ body: { queue: 'emails' } });
      expect(Object.keys(result).sort()).toEqual(['cancelled', 'remaining']);
    });

    it('400 with both ids and a filter', () =>
      api
        .tenant()
        .refused(400, 'ids: cannot be combined with queue, name and tags', ({ jobs }) =>
          jobs.jobs.cancelMany({ body: { ids: [absent.job], queue: 'emails' } }),
        ));
  });

  describe('cancel', () => {
    it('204', async () => {
      const tenant = api.tenant();
      const { id } = await enqueue(tenant);
      await tenant.plinth.jobs.jobs.cancel({ jobId: id });
    });

    it('400 while it runs', async () => {
      const tenant = api.tenant();
      const { job } = await taken(tenant);
      await tenant.refused(400, 'job cannot be cancelled in state running', ({ jobs }) =>
        jobs.jobs.cancel({ jobId: job.id }),
      );
    });

    it('404 when it does not exist', () =>
      api.tenant().refused(404, 'job not found', ({ jobs }) => jobs.jobs.cancel({ jobId: absent.job })));
  });

  describe('retry', () => {
    it('200 with the job, which is due now', async () => {
      const tenant = api.tenant();
      const { id } = await enqueue(tenant, newQueue(), { delay: '1h' });
      const job = await tenant.plinth.jobs.jobs.retry({ jobId: id });
      expect(job.id).toBe(id);
      expect(Date.parse(job.run_at)).toBeLessThan(Date.now() + 60_000);
    });

    it('400 when it is completed', async () => {
      const tenant = api.tenant();
      const { leaseId, job } = await taken(tenant);
      await tenant.plinth.jobs.jobs.complete({ jobId: job.id, body: { lease_id: leaseId } });
      await tenant.refused(400, 'job cannot be retried in state completed', ({ jobs }) =>
        jobs.jobs.retry({ jobId: job.id }),
      );
    });

    it('404 when it does not exist', () =>
      api.tenant().refused(404, 'job not found', ({ jobs }) => jobs.jobs.retry({ jobId: absent.job })));
  });

  describe('complete', () => {
    it('200 with the job and its output', async () => {
      const tenant = api.tenant();
      const { leaseId, job } = await taken(tenant);
      const body = { lease_id: leaseId, output: { message_id: 'm-8812' } };
      expect(await tenant.plinth.jobs.jobs.complete({ jobId: job.id, body })).toMatchObject({
        state: 'completed',
        output: body.output,
      });
    });

    it('413 when the output is too large', async () => {
      const tenant = api.tenant();
      const { leaseId, job } = await taken(tenant);
      await tenant.refused(413, 'output: must have at most 65536 bytes', ({ jobs }) =>
        jobs.jobs.complete({ jobId: job.id, body: { lease_id: leaseId, output: tooLarge } }),
      );
    });
  });

  describe('fail', () => {
    it('200 with the job', async () => {
      const tenant = api.tenant();
      const { leaseId, job } = await taken(tenant);
      const body = { lease_id: leaseId, error: 'smtp: 451 try again later' };
      expect((await tenant.plinth.jobs.jobs.fail({ jobId: job.id, body })).id).toBe(job.id);
    });
  });

  describe('snooze', () => {
    it('200 with the job, which the lease holds no more', async () => {
      const tenant = api.tenant();
      const { leaseId, job } = await taken(tenant);
      expect(
        await tenant.plinth.jobs.jobs.snooze({ jobId: job.id, body: { lease_id: leaseId, delay: '10m' } }),
      ).toMatchObject({ id: job.id, state: 'pending', attempt: 0, lease_expires_at: null });
    });
  });

  describe.each([
    ['complete', {}],
    ['fail', { error: 'smtp: 550' }],
    ['snooze', { delay: '1m' }],
  ] as const)('%s', (method, report) => {
    it('404 when it does not exist', () =>
      api
        .tenant()
        .refused(404, 'job not found', ({ jobs: { jobs } }) =>
          jobs[method]({ jobId: absent.job, body: { lease_id: absent.lease, ...report } as never }),
        ));

    it('409 when the lease does not hold it', async () => {
      const tenant = api.tenant();
      const { id } = await enqueue(tenant);
      await tenant.refused(409, 'job is not held by this lease', ({ jobs: { jobs } }) =>
        jobs[method]({ jobId: id, body: { lease_id: absent.lease, ...report } as never }),
      );
    });
  });
});

behaviour('Jobs', (api) => {
  it('a taken unique key answers 200 with the job that has it', async () => {
    const { jobs } = api.tenant().plinth;
    const body = { ...mail, unique_key: 'o-4711' };
    const first = await jobs.jobs.create({ body });
    const { data, response } = await jobs.jobs.create({ body: { ...body, priority: 9 } }).response();
    expect([response.status, data]).toEqual([200, first]);
  });

  it('a repeated request answers with the same job, and makes no other', async () => {
    const { jobs } = api.tenant().plinth;
    const once = { idempotencyKey: 'once' };
    const first = await jobs.jobs.create({ body: mail }, once);
    expect(await jobs.jobs.create({ body: mail }, once)).toEqual(first);
    expect(await jobs.jobs.list()).toHaveLength(1);
  });

  it('a batch is made whole or not at all, and names the job that is refused', async () => {
    const tenant = api.tenant();
    await tenant.refused(400, 'jobs[1].queue: plinth.x is reserved', ({ jobs }) =>
      jobs.jobs.createBatch({ body: { jobs: [mail, { ...mail, queue: 'plinth.x' }] } }),
    );
    expect(await tenant.plinth.jobs.jobs.list()).toEqual([]);
  });

  it('no job of a batch may belong to another tenant', async () => {
    const other = api.tenant();
    const key = await api.tenant().withKey(['jobs:*']);
    await key.refused(403, /scope_org_id: not the caller's own$/, ({ jobs }) =>
      jobs.jobs.createBatch({ body: { jobs: [mail, { ...mail, scope_org_id: other.id }] } }),
    );
    expect(await other.plinth.jobs.jobs.list()).toEqual([]);
  });

  it('an attempt that failed is repeated, and the last one leaves a dead letter', async () => {
    const tenant = api.tenant();
    const { jobs } = tenant.plinth;
    const queue = newQueue();
    const { id } = await enqueue(tenant, queue, { max_attempts: 2 });
    const states = [];
    for (let attempt = 0; attempt < 2; attempt++) {
      const { leaseId } = await take(tenant, queue);
      const body = { lease_id: leaseId, error: `attempt ${attempt}`, retry_in: '0s' };
      states.push((await jobs.jobs.fail({ jobId: id, body })).state);
    }
    expect(states).toEqual(['retrying', 'failed']);
    expect(await jobs.dlq.list({ queue })).toMatchObject([{ job_id: id, error: 'attempt 1', attempt: 2 }]);
    expect(await jobs.jobs.retry({ jobId: id })).toMatchObject({ state: 'pending', attempt: 0 });
    expect(await jobs.dlq.list({ queue })).toEqual([]);
  });

  it('a walk over the list meets every job once, also across those that have ended', async () => {
    const tenant = api.tenant();
    const ids: string[] = [];
    for (let count = 0; count < 5; count++) ids.unshift((await enqueue(tenant)).id);
    await tenant.plinth.jobs.jobs.cancelMany({ body: { ids: [ids[1]!, ids[3]!] } });
    const met = [];
    for await (const { id } of tenant.plinth.jobs.jobs.list({ limit: 2 })) met.push(id);
    expect(met).toEqual(ids);
  });

  it('the operator sees the jobs of all tenants, or those of the one that it names', async () => {
    const tenant = api.tenant();
    const queue = newQueue();
    const { id } = await enqueue(tenant, queue);
    await enqueue(api.tenant(), queue);
    const { jobs } = api.operator().plinth;
    expect(await jobs.jobs.list({ queue })).toHaveLength(2);
    expect(await jobs.jobs.list({ queue, scope_org_id: tenant.id })).toMatchObject([{ id }]);
  });
});
