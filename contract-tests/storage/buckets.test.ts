import { describe, expect, it } from 'vitest';
import { behaviour, contract } from '../harness.ts';
import { absent, newBucket } from './content.ts';

const notFound = 'bucket not found';

contract('Buckets', (api) => {
  describe('create', () => {
    it('201 with the bucket', async () => {
      const body = { name: 'photos', metadata: { team: 'media' } };
      const { data, response } = await api.tenant().plinth.storage.buckets.create({ body }).response();
      expect(response.status).toBe(201);
      expect(data).toMatchObject({ name: 'photos', usage: null });
    });

    it('400 for an invalid name', async () => {
      await api
        .tenant()
        .refused(400, 'invalid bucket name', ({ storage }) =>
          storage.buckets.create({ body: { name: '-' } }),
        );
    });
  });
});

behaviour('Buckets', (api) => {
  it('create: 409 when the name is taken', async () => {
    const tenant = api.tenant();
    await newBucket(tenant);
    await tenant.refused(409, 'bucket already exists', ({ storage }) =>
      storage.buckets.create({ body: { name: 'photos' } }),
    );
  });

  it('list, get, update: 200 with what is there', async () => {
    const tenant = api.tenant();
    await newBucket(tenant);
    const { buckets } = tenant.plinth.storage;
    const names: string[] = [];
    for await (const { name } of buckets.list({ prefix: 'pho' })) names.push(name);
    expect(names).toEqual(['photos']);
    expect((await buckets.get({ bucket: 'photos' })).usage).toEqual({
      bytes: 3,
      objects: 1,
      upload_bytes: 0,
    });
    expect((await buckets.update({ bucket: 'photos', body: { events: false } })).events).toBe(false);
  });

  it('list: 400 for a cursor of another list', async () => {
    await api.tenant().refused(400, 'invalid cursor', async ({ storage }) => {
      for await (const _ of storage.buckets.list({ cursor: 'AAAAAAAAAAAA' })) return;
    });
  });

  it('get, update, delete: 404 for an absent bucket, and 400 for a name that cannot be', async () => {
    const tenant = api.tenant();
    for (const [status, message, bucket] of [
      [404, notFound, absent.bucket],
      [400, 'invalid bucket name', '-'],
    ] as const) {
      await tenant.refused(status, message, ({ storage }) => storage.buckets.get({ bucket }));
      await tenant.refused(status, message, ({ storage }) => storage.buckets.update({ bucket, body: {} }));
      await tenant.refused(status, message, ({ storage }) => storage.buckets.delete({ bucket }));
    }
  });

  it('delete: 409 when it is not empty, 204 with force, for which write access is not enough', async () => {
    const tenant = api.tenant();
    await newBucket(tenant);
    await tenant.refused(409, 'bucket is not empty', ({ storage }) =>
      storage.buckets.delete({ bucket: 'photos' }),
    );
    const writer = await tenant.withKey(['storage:write']);
    await writer.refused(403, 'forbidden', ({ storage }) =>
      storage.buckets.delete({ bucket: 'photos', force: true }),
    );
    await tenant.plinth.storage.buckets.delete({ bucket: 'photos', force: true });
    await tenant.refused(404, notFound, ({ storage }) => storage.buckets.get({ bucket: 'photos' }));
  });
});
