import { describe, expect, it } from 'vitest';
import { behaviour, contract } from '../harness.ts';
import { recorded } from './trail.ts';

contract('Stats', (api) => {
  describe('get', () => {
    it('200 with every number', async () => {
      const stats = await api.tenant().plinth.audit.stats.get();
      expect(Object.keys(stats.events_by_severity).sort()).toEqual(['critical', 'info', 'warning']);
      expect(Object.keys(stats.events_by_outcome).sort()).toEqual(['denied', 'failure', 'success']);
    });
  });
});

behaviour('Stats', (api) => {
  it('count the events of the tenant and of the period, and the operator the same by its name', async () => {
    const tenant = api.tenant();
    const timestamp = '2025-12-31T23:59:59.999Z';
    await recorded(tenant, { timestamp, outcome: 'denied', severity: 'warning' });
    await recorded(tenant, { timestamp: '2026-01-01T00:00:00Z' });
    await recorded(api.tenant(), { timestamp });
    const within = { from: '2025-01-01', to: '2026-01-01' };
    const numbers = {
      total_events: 1,
      events_by_severity: { info: 0, warning: 1, critical: 0 },
      events_by_outcome: { success: 0, failure: 0, denied: 1 },
      events_by_category: { data: 1 },
      events_in_other_categories: 0,
    };
    expect(await tenant.plinth.audit.stats.get(within)).toEqual(numbers);
    const asked = api.operator().plinth.audit.stats.get({ ...within, tenant_id: tenant.id });
    expect(await asked).toEqual(numbers);
  });
});
