import { describe, expect, it } from 'vitest';
import { behaviour, contract } from '../harness.ts';
import { absent, deadLetter, newQueue } from './work.ts';

const usedBefore = 'idempotency key was used with another body';

contract('Dlq', (api) => {
  describe('list', () => {
    it('200 with the dead letters of the tenant', async () => {
      const tenant = api.tenant();
      const id = await deadLetter(tenant);
      expect((await tenant.plinth.jobs.dlq.list()).map((letter) => letter.id)).toEqual([id]);
    });
  });

  describe('count', () => {
    it('200 with the number', async () => {
      const { count } = await api.tenant().plinth.jobs.dlq.count({ queue: newQueue() });
      expect(count).toBe(api.target === 'mock' ? 3 : 0);
    });
  });

  describe('get', () => {
    it('200 with the dead letter', async () => {
      const tenant = api.tenant();
      const entryId = await deadLetter(tenant);
      expect(await tenant.plinth.jobs.dlq.get({ entryId })).toMatchObject({
        id: entryId,
        job_name: 'email.send',
        error: 'smtp: 550 no such user',
      });
    });

    it('404 when it does not exist', () =>
      api
        .tenant()
        .refused(404, 'dlq entry not found', ({ jobs }) => jobs.dlq.get({ entryId: absent.letter })));
  });

  describe('replay', () => {
    it('201 with a new job', async () => {
      const tenant = api.tenant();
      const entryId = await deadLetter(tenant);
      const { data, response } = await tenant.plinth.jobs.dlq.replay({ entryId }).response();
      expect(response.status).toBe(201);
      expect(data).toMatchObject({ name: 'email.send', state: 'pending', attempt: 0 });
      expect(data.origin_id).toMatch(/^job_/);
    });

    it('404 when it does not exist', () =>
      api
        .tenant()
        .refused(404, 'dlq entry not found', ({ jobs }) => jobs.dlq.replay({ entryId: absent.letter })));

    it('409 when the idempotency key was used for another one', async () => {
      const tenant = api.tenant();
      const once = { idempotencyKey: 'once' };
      await tenant.plinth.jobs.dlq.replay({ entryId: await deadLetter(tenant) }, once);
      const entryId = await deadLetter(tenant);
      await tenant.refused(409, usedBefore, ({ jobs }) => jobs.dlq.replay({ entryId }, once));
    });
  });

  describe('replayMany', () => {
    it('200 with the new jobs, and the ids of those that do not exist', async () => {
      const tenant = api.tenant();
      const ids = [await deadLetter(tenant), 'dlq_01h456c9k2f5tvsknk084sn0ab'];
      const result = await tenant.plinth.jobs.dlq.replayMany({ body: { ids } });
      expect(result).toMatchObject({ replayed: 1, not_found: [ids[1]], remaining: 0 });
      expect(result.jobs).toHaveLength(1);
    });

    it('400 with both ids and a filter', () =>
      api
        .tenant()
        .refused(400, 'ids: cannot be combined with queue and job_name', ({ jobs }) =>
          jobs.dlq.replayMany({ body: { ids: [absent.letter], queue: 'emails' } }),
        ));

    it('409 when the idempotency key was used with another body', async () => {
      const tenant = api.tenant();
      const once = { idempotencyKey: 'once' };
      await tenant.plinth.jobs.dlq.replayMany({ body: { queue: 'emails' } }, once);
      await tenant.refused(409, usedBefore, ({ jobs }) =>
        jobs.dlq.replayMany({ body: { queue: 'reports' } }, once),
      );
    });
  });

  describe('purge', () => {
    it('200 with the number of those that were removed', async () => {
      const { purged } = await api.tenant().plinth.jobs.dlq.purge({ body: { queue: 'emails' } });
      expect(purged).toBe(api.target === 'mock' ? 14 : 0);
    });
  });
});

behaviour('Dlq', (api) => {
  it('of two replays at once, one makes a job and one finds nothing', async () => {
    const tenant = api.tenant();
    const queue = newQueue();
    const entryId = await deadLetter(tenant, queue);
    const replays = await Promise.allSettled(
      [1, 2].map(async () => await tenant.plinth.jobs.dlq.replay({ entryId })),
    );
    expect(replays.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(await tenant.plinth.jobs.jobs.list({ queue, state: 'pending' })).toHaveLength(1);
  });

  it('a purge removes those of the tenant, and the failed jobs remain', async () => {
    const [tenant, other] = [api.tenant(), api.tenant()];
    const queue = newQueue();
    await deadLetter(tenant, queue);
    await deadLetter(other, queue);
    const { jobs } = tenant.plinth;
    expect(await jobs.dlq.purge()).toEqual({ purged: 0 });
    expect(await jobs.dlq.purge({ body: { older_than: '0s' } })).toEqual({ purged: 1 });
    expect(await jobs.jobs.list({ queue, state: 'failed' })).toHaveLength(1);
    expect(await other.plinth.jobs.dlq.list()).toHaveLength(1);
  });
});
