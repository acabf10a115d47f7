import { describe, expect, it } from 'vitest';
import { behaviour, contract } from '../harness.ts';
import { enqueue, newQueue, take } from './work.ts';

contract('Queues', (api) => {
  describe('list', () => {
    it('200 with the queues that have jobs', async () => {
      const tenant = api.tenant();
      await enqueue(tenant, 'emails');
      expect((await tenant.plinth.jobs.queues.list({ limit: 1000 })).map(({ name }) => name)).toContain(
        'emails',
      );
    });
  });

  describe('get', () => {
    it('200 with the queue', async () => {
      const tenant = api.tenant();
      await enqueue(tenant, 'emails');
      expect(await tenant.plinth.jobs.queues.get({ name: 'emails' })).toMatchObject({ name: 'emails' });
    });

    it('404 when nobody has named it', () =>
      api.tenant().refused(404, 'queue not found', ({ jobs }) => jobs.queues.get({ name: newQueue() })));
  });

  describe('put', () => {
    it('200 with the queue and its limits', async () => {
      const name = newQueue();
      const { jobs } = api.operator().plinth;
      const body = { max_concurrency: 50, tenant_concurrency: 5, rate_limit: 20 };
      expect(await jobs.queues.put({ name, body })).toMatchObject(body);
    });

    it('403 for everybody but the operator', async () => {
      const key = await api.tenant().withKey(['jobs:admin']);
      await key.refused(403, 'operator only', ({ jobs }) =>
        jobs.queues.put({ name: 'emails', body: { paused: true } }),
      );
    });
  });
});

behaviour('Queues', (api) => {
  it('a paused queue gives no job away until it goes on', async () => {
    const tenant = api.tenant();
    const name = newQueue();
    const { queues } = api.operator().plinth.jobs;
    await queues.put({ name, body: { paused: true } });
    const { id } = await enqueue(tenant, name);
    const { jobs } = await tenant.plinth.jobs.leases.create({ body: { queues: [name] } });
    expect(jobs).toEqual([]);
    expect(await tenant.plinth.jobs.queues.get({ name })).toMatchObject({
      paused: true,
      counts: { pending: 1, running: 0, retrying: 0 },
    });
    const waiting = take(tenant, name);
    await queues.put({ name, body: { paused: false } });
    expect((await waiting).job.id).toBe(id);
  });

  it('no more jobs of a tenant run at once than the queue allows', async () => {
    const [one, other] = [api.tenant(), api.tenant()];
    const name = newQueue();
    const { queues, leases } = api.operator().plinth.jobs;
    await queues.put({ name, body: { max_concurrency: 3, tenant_concurrency: 2 } });
    for (let count = 0; count < 4; count++) await enqueue(one, name);
    for (let count = 0; count < 4; count++) await enqueue(other, name);
    const { jobs } = await leases.create({ body: { queues: [name] } });
    const owners = jobs.map(({ scope_org_id }) => scope_org_id);
    expect(owners).toHaveLength(3);
    expect(new Set(owners)).toEqual(new Set([one.id, other.id]));
  });

  it('counts only what the caller may see', async () => {
    const name = newQueue();
    await enqueue(api.tenant(), name);
    await api.tenant().refused(404, 'queue not found', ({ jobs }) => jobs.queues.get({ name }));
    expect(await api.operator().plinth.jobs.queues.get({ name })).toMatchObject({ counts: { pending: 1 } });
  });
});
