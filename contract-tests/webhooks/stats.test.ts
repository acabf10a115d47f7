import { describe, expect, it } from 'vitest';
import { behaviour, contract } from '../harness.ts';
import { deadLetter, failing, newEndpoint } from './hooks.ts';

contract('Stats', (api) => {
  describe('get', () => {
    it('200 with every number', async () => {
      const { deliveries_by_state, ...rest } = await api.tenant().plinth.webhooks.stats.get();
      const states = ['cancelled', 'delivered', 'delivering', 'failed', 'pending'];
      expect(Object.keys(deliveries_by_state).sort()).toEqual(states);
      expect(Object.keys(rest)).toHaveLength(6);
    });
  });
});

behaviour('Stats', (api) => {
  it('counts what the tenant has, and the operator the same by its name', async () => {
    const tenant = api.tenant();
    await deadLetter(api, tenant);
    await failing(api, tenant);
    await newEndpoint(tenant, { enabled: false });
    await deadLetter(api, api.tenant());
    const numbers = {
      deliveries: 2,
      dlq: 1,
      endpoints: 3,
      deliveries_by_state: { pending: 1, delivering: 0, delivered: 0, failed: 1, cancelled: 0 },
      endpoints_enabled: 2,
      endpoints_open: 0,
    };
    const own = tenant.plinth.webhooks.stats.get();
    const asked = api.operator().plinth.webhooks.stats.get({ tenant_id: tenant.id });
    for (const { events, ...counted } of await Promise.all([own, asked])) {
      expect(counted).toEqual(numbers);
      // The platform's own events of the tenant also count, and arrive later.
      expect(events).toBeGreaterThanOrEqual(2);
    }
  });
});
