import { describe, expect, it } from 'vitest';
import { behaviour, contract } from '../harness.ts';
import { absent, deadLetter, usedBefore } from './hooks.ts';

contract('Dead letters', (api) => {
  describe('list', () => {
    it('200 with the dead letters of the tenant', async () => {
      const tenant = api.tenant();
      const id = await deadLetter(api, tenant);
      expect((await tenant.plinth.webhooks.dlq.list()).map((letter) => letter.id)).toEqual([id]);
    });
  });

  describe('count', () => {
    it('200 with the number', async () => {
      const { count } = await api.tenant().plinth.webhooks.dlq.count();
      expect(count).toBe(api.target === 'mock' ? 2 : 0);
    });
  });

  describe('get', () => {
    it('200 with the dead letter', async () => {
      const tenant = api.tenant();
      const id = await deadLetter(api, tenant);
      const letter = await tenant.plinth.webhooks.dlq.get({ id });
      expect(letter).toMatchObject({ id });
      if (api.target === 'server')
        expect(letter).toMatchObject({
          error: 'connection refused',
          attempt_count: 1,
          last_status_code: null,
        });
    });
  });

  describe('delete', () => {
    it('204', async () => {
      const tenant = api.tenant();
      const id = await deadLetter(api, tenant);
      await tenant.plinth.webhooks.dlq.delete({ id });
    });
  });

  describe('replay', () => {
    it('201 with a new delivery', async () => {
      const tenant = api.tenant();
      const { data, response } = await tenant.plinth.webhooks.dlq
        .replay({ id: await deadLetter(api, tenant) })
        .response();
      expect(response.status).toBe(201);
      expect(data).toMatchObject({ state: 'pending', attempt_count: 0 });
      expect(data.replay_of).toMatch(/^del_/);
    });

    it('409 when the idempotency key was used for another one', async () => {
      const tenant = api.tenant();
      const once = { idempotencyKey: 'once' };
      await tenant.plinth.webhooks.dlq.replay({ id: await deadLetter(api, tenant) }, once);
      const id = await deadLetter(api, tenant);
      await tenant.refused(409, usedBefore, ({ webhooks }) => webhooks.dlq.replay({ id }, once));
    });
  });

  describe.each(['get', 'delete', 'replay'] as const)('%s', (method) => {
    it('404 when it does not exist', () =>
      api.tenant().refused(404, 'dlq entry not found', async ({ webhooks }) => {
        await webhooks.dlq[method]({ id: absent.letter });
      }));
  });

  describe('replayMany', () => {
    it('200 with the new deliveries, and the ids of those that do not exist', async () => {
      const tenant = api.tenant();
      const ids = [await deadLetter(api, tenant), 'dlq_01h456c9k2f5tvsknk084sn0ab'];
      const result = await tenant.plinth.webhooks.dlq.replayMany({ body: { ids } });
      expect(result).toMatchObject({ replayed: 1, not_found: [ids[1]], remaining: 0 });
      expect(result.deliveries).toHaveLength(1);
    });

    it('400 with both ids and a filter', () =>
      api
        .tenant()
        .refused(400, 'ids: cannot be combined with endpoint_id, event_type, from and to', ({ webhooks }) =>
          webhooks.dlq.replayMany({ body: { ids: [absent.letter], event_type: 'invoice.paid' } }),
        ));

    it('409 when the idempotency key was used with another body', async () => {
      const tenant = api.tenant();
      const once = { idempotencyKey: 'once' };
      await tenant.plinth.webhooks.dlq.replayMany({ body: { event_type: 'invoice.paid' } }, once);
      await tenant.refused(409, usedBefore, ({ webhooks }) =>
        webhooks.dlq.replayMany({ body: { event_type: 'invoice.void' } }, once),
      );
    });
  });

  describe('purge', () => {
    it('200 with the number of those that were removed', async () => {
      const { purged } = await api.tenant().plinth.webhooks.dlq.purge({ body: {} });
      expect(purged).toBe(api.target === 'mock' ? 14 : 0);
    });
  });
});

behaviour('Dead letters', (api) => {
  it('of two replays at once, one makes a delivery and one finds nothing', async () => {
    const tenant = api.tenant();
    const id = await deadLetter(api, tenant);
    const { delivery_id } = await tenant.plinth.webhooks.dlq.get({ id });
    const replays = await Promise.allSettled(
      [1, 2].map(async () => await tenant.plinth.webhooks.dlq.replay({ id })),
    );
    expect(replays.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const deliveries = await tenant.plinth.webhooks.deliveries.listAll();
    expect(deliveries.filter(({ replay_of }) => replay_of === delivery_id)).toHaveLength(1);
  });

  it('of a deleted endpoint are kept, but not replayed', async () => {
    const tenant = api.tenant();
    const { dlq, endpoints } = tenant.plinth.webhooks;
    const id = await deadLetter(api, tenant);
    const { endpoint_id } = await dlq.get({ id });
    await endpoints.delete({ id: endpoint_id });
    await tenant.refused(404, 'dlq entry not found', ({ webhooks }) => webhooks.dlq.replay({ id }));
    expect(await dlq.count()).toEqual({ count: 1 });
  });

  it('a purge removes those of the tenant, and the failed deliveries remain', async () => {
    const [tenant, other] = [api.tenant(), api.tenant()];
    await deadLetter(api, tenant);
    await deadLetter(api, other);
    const { dlq, deliveries } = tenant.plinth.webhooks;
    expect(await dlq.purge()).toEqual({ purged: 0 });
    expect(await dlq.purge({ body: { older_than: '0s' } })).toEqual({ purged: 1 });
    expect(await deliveries.listAll({ state: 'failed' })).toHaveLength(1);
    expect(await other.plinth.webhooks.dlq.list()).toHaveLength(1);
  });
});
