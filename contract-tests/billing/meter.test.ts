import { describe, expect, it } from 'vitest';
import { behaviour, contract } from '../harness.ts';
import { nobody, subscriber, used } from './subscribers.ts';

const call = { feature_key: 'api_calls', quantity: 2 };
const old = '2020-01-01T00:00:00Z';

contract('Meter', (api) => {
  describe('record', () => {
    it('202 with the id of the event', async () => {
      const { data, response } = await api.tenant().plinth.billing.meter.record({ body: call }).response();
      expect([response.status, data.status]).toEqual([202, 'buffered']);
    });

    it('400 when it is too old', () =>
      api
        .tenant()
        .refused(400, 'timestamp: older than 35 days', ({ billing }) =>
          billing.meter.record({ body: { ...call, timestamp: old } }),
        ));

    it('403 for a correction by anybody but the operator', () =>
      api
        .tenant()
        .refused(403, 'quantity: only the operator may send a negative one', ({ billing }) =>
          billing.meter.record({ body: { ...call, quantity: -1 } }),
        ));

    it('409 when its key is taken', async () => {
      const tenant = api.tenant();
      const body = { ...call, idempotency_key: 'once' };
      const id = await used(tenant, body);
      const answer = await tenant.refused(409, /^idempotency_key: /, ({ billing }) =>
        billing.meter.record({ body }),
      );
      if (api.target === 'server')
        expect(answer).toMatchObject({ error: { details: { event_id: id, identical: true } } });
    });
  });

  describe('recordBatch', () => {
    it('202 with what became of each event', async () => {
      const body = { events: [call, { ...call, timestamp: old }] };
      const { data, response } = await api.tenant().plinth.billing.meter.recordBatch({ body }).response();
      expect([response.status, data.results.length]).toEqual([202, 2]);
      if (api.target === 'server')
        expect(data).toMatchObject({
          accepted: 1,
          rejected: 1,
          results: [{}, { error: { code: 'event_too_old' } }],
        });
    });

    it('400 when one of them is malformed', () =>
      api
        .tenant()
        .refused(400, /^events\[1\]\.quantity: /, ({ billing }) =>
          billing.meter.recordBatch({ body: { events: [call, { ...call, quantity: 1e13 }] } }),
        ));
  });

  describe('list', () => {
    it('200 with the events, newest first', async () => {
      const tenant = api.tenant();
      const id = await used(tenant);
      const { data } = await tenant.plinth.billing.meter.list({
        feature_key: 'api_calls',
        start: '2026-01-01',
      });
      expect(data).toHaveLength(1);
      if (api.target === 'server') expect(data[0]?.id).toBe(id);
    });

    it('400 for a time that does not exist', () =>
      api.tenant().refused(400, /^start: /, ({ billing }) => billing.meter.list({ start: '2026-02-30' })));
  });

  describe('get', () => {
    it('200 with the event', async () => {
      const tenant = api.tenant();
      const id = await used(tenant, { metadata: { region: 'eu' } });
      expect(await tenant.plinth.billing.meter.get({ id })).toMatchObject({ id, metadata: { region: 'eu' } });
    });

    it('404 when it does not exist', () =>
      api
        .tenant()
        .refused(404, 'usage event not found', ({ billing }) => billing.meter.get({ id: nobody.event })));
  });

  describe('void', () => {
    it('200 with the event, which no longer counts', async () => {
      const id = await used(api.tenant());
      const { meter } = api.operator().plinth.billing;
      expect(await meter.void({ id, body: { reason: 'test traffic' } })).toMatchObject({ status: 'voided' });
    });

    it('400 when it was voided for another reason', async () => {
      const id = await used(api.tenant());
      await api.operator().plinth.billing.meter.void({ id });
      await api
        .operator()
        .refused(400, 'usage event is voided', ({ billing }) =>
          billing.meter.void({ id, body: { reason: 'test traffic' } }),
        );
    });

    it('403 for everybody but the operator', async () => {
      const tenant = api.tenant();
      const id = await used(tenant);
      const key = await tenant.withKey(['billing:admin']);
      await key.refused(403, 'operator only', ({ billing }) => billing.meter.void({ id }));
    });

    it('404 when it does not exist', () =>
      api
        .operator()
        .refused(404, 'usage event not found', ({ billing }) => billing.meter.void({ id: nobody.event })));
  });

  describe('usage', () => {
    it('200 with the use and what is left', async () => {
      const { tenant, subscription } = await subscriber(api);
      await used(tenant, { quantity: 2.5 });
      const usage = await tenant.plinth.billing.meter.usage({
        subscriptionId: subscription.id,
        meter: 'api_calls',
      });
      if (api.target === 'server')
        expect(usage).toMatchObject({ current_usage: 2.5, limit: 1_000, remaining: 997.5 });
    });
  });

  describe('history', () => {
    it('200 with a bucket for each period', async () => {
      const { tenant, subscription } = await subscriber(api);
      const request = { subscriptionId: subscription.id, meter: 'api_calls', granularity: 'weekly' } as const;
      const { data } = await tenant.plinth.billing.meter.history(request);
      if (api.target === 'server') expect(data).toHaveLength(30);
    });

    it('400 for too many periods', async () => {
      const { tenant, subscription } = await subscriber(api);
      const request = { subscriptionId: subscription.id, meter: 'api_calls', start: '2020-01-01' };
      await tenant.refused(400, 'start: at most 400 periods before end', ({ billing }) =>
        billing.meter.history(request),
      );
    });
  });

  describe.each(['usage', 'history'] as const)('%s', (method) => {
    it('404 when the subscription does not exist', () =>
      api
        .tenant()
        .refused(404, 'subscription not found', ({ billing }) =>
          billing.meter[method]({ subscriptionId: nobody.subscription, meter: 'api_calls' }),
        ));
  });
});

behaviour('Meter', (api) => {
  it('usage: 404 when the plan lacks the feature', async () => {
    const { tenant, subscription } = await subscriber(api);
    await tenant.refused(404, 'feature not found', ({ billing }) =>
      billing.meter.usage({ subscriptionId: subscription.id, meter: 'messages' }),
    );
  });

  it('a batch counts each key once', async () => {
    const { tenant } = await subscriber(api);
    const body = { events: ['a', 'b', 'a'].map((idempotency_key) => ({ ...call, idempotency_key })) };
    const { meter, entitlements } = tenant.plinth.billing;
    expect(await meter.recordBatch({ body })).toMatchObject({ accepted: 2, rejected: 1, duplicates: 1 });
    expect(await meter.recordBatch({ body })).toMatchObject({ accepted: 0, rejected: 3, duplicates: 3 });
    expect(await entitlements.check({ body: { feature_key: 'api_calls' } })).toMatchObject({ used: 4 });
  });
});
