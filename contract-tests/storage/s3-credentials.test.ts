import { expect, it } from 'vitest';
import { behaviour } from '../harness.ts';
import { newBucket } from './content.ts';

behaviour('S3Credentials', (api) => {
  it('create, list, delete: 201 with the secret, 200 without it, 204; 404 for an unknown bucket or key', async () => {
    const tenant = api.tenant();
    await newBucket(tenant);
    const { s3Credentials } = tenant.plinth.storage;
    const body = { scopes: ['storage:read' as const], bucket: 'photos' };
    const { access_key_id: accessKeyId, secret_access_key } = await s3Credentials.create({ body });
    expect(secret_access_key).toMatch(/^[A-Za-z0-9]{40}$/);
    const { credentials } = await s3Credentials.list({});
    expect(credentials).toMatchObject([{ access_key_id: accessKeyId, bucket: 'photos' }]);
    expect(JSON.stringify(credentials)).not.toContain(secret_access_key);
    await s3Credentials.delete({ accessKeyId });
    await tenant.refused(404, 'access key not found', ({ storage }) =>
      storage.s3Credentials.delete({ accessKeyId }),
    );
    await tenant.refused(404, 'bucket not found', ({ storage }) =>
      storage.s3Credentials.create({ body: { ...body, bucket: 'absent' } }),
    );
  });

  it('create: 409 beyond a hundred access keys', async () => {
    const tenant = api.tenant();
    const create = () => tenant.plinth.storage.s3Credentials.create({ body: { scopes: ['storage:read'] } });
    await Promise.all(Array.from({ length: 100 }, create));
    await tenant.refused(409, 'limit reached: 100 access keys', ({ storage }) =>
      storage.s3Credentials.create({ body: { scopes: ['storage:read'] } }),
    );
  });
});
