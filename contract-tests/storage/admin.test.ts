import { expect, it } from 'vitest';
import { behaviour } from '../harness.ts';
import { newBucket } from './content.ts';

behaviour('Admin', (api) => {
  it('stats: 200 with what the tenant stores, 400 for another scope, 403 for all tenants', async () => {
    const tenant = api.tenant();
    await newBucket(tenant);
    const { admin } = tenant.plinth.storage;
    expect(await admin.stats()).toMatchObject({ buckets: 1, objects: 1, logical_bytes: 3, stored_bytes: 3 });
    await tenant.refused(400, /^scope: /, ({ storage }) => storage.admin.stats({ scope: 'x' as never }));
    await tenant.refused(403, 'forbidden', ({ storage }) => storage.admin.stats({ scope: 'instance' }));
  });

  it('getQuota, setQuota: 200 for the operator, 403 for the tenant, 400 for no tenant', async () => {
    const { storage } = api.operator().plinth;
    const tenant = api.tenant();
    const body = { quota_bytes: 10, quota_objects: 1 };
    expect(await storage.admin.setQuota({ tenant: tenant.id, body })).toMatchObject({
      ...body,
      used_bytes: 0,
    });
    expect(await storage.admin.getQuota({ tenant: tenant.id })).toMatchObject(body);
    await tenant.refused(403, 'forbidden', (plinth) => plinth.storage.admin.getQuota({ tenant: tenant.id }));
    await api
      .operator()
      .refused(400, /^tenant: /, (plinth) => plinth.storage.admin.getQuota({ tenant: 'no tenant' }));
  });
});
