import { describe, expect, it } from 'vitest';
import { contract } from '../harness.ts';
import { nobody, subscriber, used } from './subscribers.ts';

const none = 'tenant has no active subscription';
const missing = 'customer not found';

contract('Entitlements', (api) => {
  describe('check', () => {
    it('200 when the feature may be used', async () => {
      const { tenant } = await subscriber(api);
      const { entitlements } = tenant.plinth.billing;
      expect(await entitlements.check({ body: { feature_key: 'api_calls' } })).toMatchObject({
        allowed: true,
      });
    });

    it('200 with the reason when it may not', async () => {
      const { tenant } = await subscriber(api);
      await used(tenant, { quantity: 1_000 });
      const denied = await tenant.plinth.billing.entitlements.check({ body: { feature_key: 'api_calls' } });
      if (api.target === 'server')
        expect(denied).toMatchObject({ allowed: false, used: 1_000, reason: 'quota_exceeded' });
    });

    it('403 without a subscription', () =>
      api
        .tenant()
        .refused(403, none, ({ billing }) =>
          billing.entitlements.check({ body: { feature_key: 'api_calls' } }),
        ));
  });

  describe('checkBatch', () => {
    it('200 with a result for each feature', async () => {
      const { tenant } = await subscriber(api);
      const body = { feature_keys: ['api_calls', 'sso'] };
      const { results } = await tenant.plinth.billing.entitlements.checkBatch({ body });
      expect(Object.keys(results)).toEqual(body.feature_keys);
    });

    it('403 without a subscription', () =>
      api
        .tenant()
        .refused(403, none, ({ billing }) =>
          billing.entitlements.checkBatch({ body: { feature_keys: ['sso'] } }),
        ));
  });

  describe('list', () => {
    it('200 with the features of the plan', async () => {
      const { tenant, subscription } = await subscriber(api);
      const { billing } = tenant.plinth;
      const { id } = await billing.customers.create({
        body: { name: 'Acme GmbH', email: 'billing@acme.example' },
      });
      const list = await billing.entitlements.list({ customerId: id });
      if (api.target === 'server')
        expect(list).toMatchObject({
          plan_id: subscription.plan_id,
          entitlements: [{ feature: 'api_calls' }],
        });
    });

    it('404 when the customer does not exist', () =>
      api
        .tenant()
        .refused(404, missing, ({ billing }) => billing.entitlements.list({ customerId: nobody.customer })));
  });

  describe('invalidate', () => {
    it('204', async () => {
      const { billing } = api.tenant().plinth;
      const { id } = await billing.customers.create({
        body: { name: 'Acme GmbH', email: 'billing@acme.example' },
      });
      await billing.entitlements.invalidate({ customerId: id });
    });

    it('404 when the customer does not exist', () =>
      api.tenant().refused(404, missing, async ({ billing }) => {
        await billing.entitlements.invalidate({ customerId: nobody.customer });
      }));
  });
});
