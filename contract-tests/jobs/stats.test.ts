import { describe, expect, it } from 'vitest';
import { behaviour, contract } from '../harness.ts';
import { deadLetter, enqueue, started } from './work.ts';

contract('Stats', (api) => {
  describe('get', () => {
    it('200 with every number', async () => {
      const { jobs, workflows, ...rest } = await api.tenant().plinth.jobs.stats.get();
      expect(Object.keys(jobs)).toHaveLength(6);
      expect(Object.keys(workflows)).toHaveLength(3);
      expect(Object.keys(rest)).toEqual(['dlq_count']);
    });
  });
});

behaviour('Stats', (api) => {
  it('counts what the tenant has, and the operator the same by its name', async () => {
    const tenant = api.tenant();
    await enqueue(tenant);
    await enqueue(api.tenant());
    await deadLetter(tenant);
    await started(tenant);
    const numbers = {
      // The job of the run is also waiting.
      jobs: { pending: 2, running: 0, completed: 0, failed: 1, retrying: 0, cancelled: 0 },
      dlq_count: 1,
      workflows: { running: 1, completed: 0, failed: 0 },
    };
    expect(await tenant.plinth.jobs.stats.get()).toEqual(numbers);
    expect(await api.operator().plinth.jobs.stats.get({ scope_org_id: tenant.id })).toEqual(numbers);
  });
});
