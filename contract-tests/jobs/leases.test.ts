import { describe, expect, it } from 'vitest';
import { behaviour, contract } from '../harness.ts';
import { absent, enqueue, newQueue, take, taken, tooLarge } from './work.ts';

contract('Leases', (api) => {
  describe('create', () => {
    it('200 with the jobs, which run now', async () => {
      const tenant = api.tenant();
      const queue = newQueue();
      await enqueue(tenant, queue);
      const lease = await tenant.plinth.jobs.leases.create({
        body: { queues: [queue], worker: 'mailer-1', wait: '10s' },
      });
      expect(lease.worker).toBe('mailer-1');
      expect(lease.jobs).toMatchObject([{ state: 'running', attempt: 1, worker: 'mailer-1' }]);
    });

    it('403 for a queue of the platform', () =>
      api
        .tenant()
        .refused(403, 'queues[0]: plinth.billing belongs to the platform', ({ jobs }) =>
          jobs.leases.create({ body: { queues: ['plinth.billing'] } }),
        ));
  });

  describe('heartbeat', () => {
    it('200 with the lease, which lasts longer', async () => {
      const tenant = api.tenant();
      const { leaseId } = await taken(tenant);
      expect(await tenant.plinth.jobs.leases.heartbeat({ leaseId, body: { duration: '30s' } })).toMatchObject(
        { id: leaseId },
      );
    });

    it('404 when it has ended', () =>
      api
        .tenant()
        .refused(404, 'lease not found', ({ jobs }) => jobs.leases.heartbeat({ leaseId: absent.lease })));
  });

  describe('settle', () => {
    it('200 with the number of settled jobs, and those that were lost', async () => {
      const tenant = api.tenant();
      const { leaseId, job } = await taken(tenant);
      const body = { completed: [{ id: job.id }, { id: 'job_01h455vb4pex5vsknk084sn02r' }] };
      expect(await tenant.plinth.jobs.leases.settle({ leaseId, body })).toEqual({
        settled: 1,
        lost: ['job_01h455vb4pex5vsknk084sn02r'],
      });
    });

    it('404 when the lease has ended', () =>
      api
        .tenant()
        .refused(404, 'lease not found', ({ jobs }) =>
          jobs.leases.settle({ leaseId: absent.lease, body: { completed: [{ id: absent.job }] } }),
        ));

    it('413 when an output is too large', async () => {
      const tenant = api.tenant();
      const { leaseId, job } = await taken(tenant);
      await tenant.refused(413, 'completed[0].output: must have at most 65536 bytes', ({ jobs }) =>
        jobs.leases.settle({ leaseId, body: { completed: [{ id: job.id, output: tooLarge }] } }),
      );
    });
  });

  describe('release', () => {
    it('204', async () => {
      const tenant = api.tenant();
      const { leaseId } = await taken(tenant);
      await tenant.plinth.jobs.leases.release({ leaseId });
    });

    it('404 when it has ended', () =>
      api
        .tenant()
        .refused(404, 'lease not found', ({ jobs }) => jobs.leases.release({ leaseId: absent.lease })));
  });
});

behaviour('Leases', (api) => {
  it('without a due job there is no lease', async () => {
    expect(await api.tenant().plinth.jobs.leases.create({ body: { queues: [newQueue()] } })).toEqual({
      id: null,
      worker: null,
      expires_at: null,
      jobs: [],
    });
  });

  it('a worker that waits gets the job that comes', async () => {
    const tenant = api.tenant();
    const queue = newQueue();
    const waiting = take(tenant, queue);
    const { id } = await enqueue(tenant, queue);
    expect((await waiting).job.id).toBe(id);
  });

  it('jobs come by priority, and only those of the tenant', async () => {
    const tenant = api.tenant();
    const queue = newQueue();
    await enqueue(api.tenant(), queue, { priority: 100 });
    const late = await enqueue(tenant, queue);
    const early = await enqueue(tenant, queue, { priority: 1 });
    const { jobs } = await tenant.plinth.jobs.leases.create({ body: { queues: [queue] } });
    expect(jobs.map(({ id }) => id)).toEqual([early.id, late.id]);
  });

  it('a released job is pending at once, and its attempt does not count', async () => {
    const tenant = api.tenant();
    const { leaseId, job } = await taken(tenant);
    await tenant.plinth.jobs.leases.release({ leaseId });
    expect(await tenant.plinth.jobs.jobs.get({ jobId: job.id })).toMatchObject({
      state: 'pending',
      attempt: 0,
    });
  });

  it('a repeated settlement changes nothing more', async () => {
    const tenant = api.tenant();
    const { leaseId, job } = await taken(tenant, { max_attempts: 1 });
    const body = { failed: [{ id: job.id, error: 'smtp: 550' }] };
    const { leases, dlq } = tenant.plinth.jobs;
    expect(await leases.settle({ leaseId, body })).toEqual({ settled: 1, lost: [] });
    expect(await leases.settle({ leaseId, body })).toEqual({ settled: 0, lost: [job.id] });
    expect(await dlq.list({ queue: job.queue })).toHaveLength(1);
  });

  it('the lease of another tenant is as absent as one that does not exist', async () => {
    const { leaseId, job } = await taken(api.tenant());
    const stranger = api.tenant();
    const body = { completed: [{ id: job.id }] };
    await stranger.refused(404, 'lease not found', ({ jobs }) => jobs.leases.settle({ leaseId, body }));
    await stranger.refused(404, 'lease not found', ({ jobs }) => jobs.leases.heartbeat({ leaseId }));
    await stranger.refused(404, 'lease not found', ({ jobs }) => jobs.leases.release({ leaseId }));
  });
});
