import { describe, expect, it } from 'vitest';
import { behaviour, type Tenant } from '../harness.ts';
import { absent, newBucket, send } from './content.ts';

const gone = 'upl_01m7w6j6r3f6ct0pbbrk0naxs8';
const json = { 'content-type': 'application/json' };

behaviour('Uploads', (api) => {
  const tenantWith = async (settings: object = {}) => {
    const tenant = api.tenant();
    await newBucket(tenant, settings);
    return tenant;
  };
  const begin = async (tenant: Tenant, key = 'film.mp4', content_type = 'image/jpeg') => {
    const { id } = await tenant.plinth.storage.uploads.create({
      bucket: 'photos',
      body: { key, content_type },
    });
    return id;
  };
  const path = (id: string, bucket = 'photos') => `/buckets/${bucket}/uploads/${id}`;
  const part = (tenant: Tenant, id: string, number = 1, content = 'abc', headers = {}) =>
    send(tenant, 'PUT', `${path(id)}/parts/${number}`, headers, content);
  const complete = (tenant: Tenant, id: string, body: object = {}, headers = {}) =>
    send(tenant, 'POST', `${path(id)}/complete`, { ...json, ...headers }, JSON.stringify(body));
  const abort = (tenant: Tenant, id: string) => send(tenant, 'DELETE', path(id));

  describe('create', () => {
    it('201 with the upload; 400, 404 and 415', async () => {
      const tenant = await tenantWith({ allowed_content_types: ['image/*'] });
      const { uploads } = tenant.plinth.storage;
      const body = { key: 'cat.jpg', content_type: 'image/jpeg' };
      expect(await uploads.create({ bucket: 'photos', body })).toMatchObject({
        ...body,
        status: 'pending',
        parts: null,
      });
      const refused = (status: number, error: string, change: object, bucket = 'photos') =>
        tenant.refused(status, error, ({ storage }) =>
          storage.uploads.create({ bucket, body: { ...body, ...change } }),
        );
      await refused(400, 'expires_in: at least 1m', { expires_in: '1s' });
      await refused(404, 'bucket not found', {}, absent.bucket);
      await refused(415, 'content type is not allowed in this bucket', { content_type: 'text/html' });
    });

    it('409 when the idempotency key was used with another body', async () => {
      const tenant = await tenantWith();
      const create = (key: string) =>
        send(
          tenant,
          'POST',
          '/buckets/photos/uploads',
          { ...json, 'idempotency-key': 'create-1' },
          JSON.stringify({ key }),
        );
      expect((await create('a')).status).toBe(201);
      expect((await create('b')).status).toBe(409);
    });
  });

  it('list: 200 with the newest first, 400 and 404', async () => {
    const tenant = await tenantWith();
    const [first, second] = [await begin(tenant, 'a'), await begin(tenant, 'b')];
    const list = (query: string, bucket = 'photos') =>
      send(tenant, 'GET', `/buckets/${bucket}/uploads${query}`);
    const page = (await (await list('?limit=1')).json()) as { uploads: { id: string }[]; cursor: string };
    expect(page.uploads.map(({ id }) => id)).toEqual([second]);
    const rest = (await (await list(`?limit=1&cursor=${page.cursor}`)).json()) as typeof page;
    expect(rest).toMatchObject({ uploads: [{ id: first }], truncated: false, cursor: null });
    expect((await list('?cursor=AAAA')).status).toBe(400);
    expect((await list('', absent.bucket)).status).toBe(404);
  });

  it('get: 200 with the parts, 400 and 404', async () => {
    const tenant = await tenantWith();
    const id = await begin(tenant);
    await part(tenant, id);
    expect(await tenant.plinth.storage.uploads.get({ bucket: 'photos', id })).toMatchObject({
      ...{ id, status: 'active', uploaded_parts: 1, uploaded_bytes: 3, parts: [{ part_number: 1, size: 3 }] },
    });
    expect((await send(tenant, 'GET', path('upl_x'))).status).toBe(400);
    expect((await send(tenant, 'GET', path(gone))).status).toBe(404);
  });

  it('uploadPart: 200 with the part; 400, 404, 409 and 413', async () => {
    const tenant = await tenantWith({ max_object_bytes: 10 });
    const id = await begin(tenant);
    const stored = await part(tenant, id);
    expect(stored.headers.get('etag')).toBe(((await stored.json()) as { etag: string }).etag);
    expect((await part(tenant, id, 1, 'abc', { 'x-store-checksum': 'crc32c:00000000' })).status).toBe(400);
    expect((await part(tenant, id, 0)).status).toBe(400);
    expect((await part(tenant, gone)).status).toBe(404);
    expect((await part(tenant, id, 1, 'x'.repeat(11))).status).toBe(413);
    await complete(tenant, id);
    expect((await part(tenant, id)).status).toBe(409);
  });

  it('copyPart: 200 with the part; 400, 404, 409, 412 and 413', async () => {
    const tenant = await tenantWith();
    const id = await begin(tenant);
    const source = { source_key: '2026/cat.jpg' };
    const copy = (body: object, upload = id) =>
      send(tenant, 'POST', `${path(upload)}/parts/1/copy`, json, JSON.stringify({ ...source, ...body }));
    const stored = await copy({ source_range: 'bytes=1-2' });
    expect([stored.status, (await stored.json()) as object]).toMatchObject([
      200,
      { part_number: 1, size: 2 },
    ]);
    expect((await copy({ source_range: 'bytes=1-3' })).status).toBe(400);
    expect((await copy({ source_key: absent.key })).status).toBe(404);
    expect((await copy({}, gone)).status).toBe(404);
    expect((await copy({ source_etag: '"x"' })).status).toBe(412);
    await tenant.plinth.storage.buckets.update({ bucket: 'photos', body: { max_object_bytes: 2 } });
    expect((await copy({})).status).toBe(413);
    await abort(tenant, id);
    expect((await copy({})).status).toBe(409);
  });

  it('complete: 200 with the object, also again; 400, 404, 409, 412 and 413', async () => {
    const tenant = await tenantWith();
    const id = await begin(tenant, '2026/cat.jpg');
    await part(tenant, id, 1, 'new');
    expect((await complete(tenant, id, { size: 4 })).status).toBe(400);
    expect((await complete(tenant, gone)).status).toBe(404);
    expect((await complete(tenant, id, {}, { 'if-none-match': '*' })).status).toBe(412);
    await tenant.plinth.storage.buckets.update({ bucket: 'photos', body: { max_object_bytes: 2 } });
    expect((await complete(tenant, id)).status).toBe(413);
    await tenant.plinth.storage.buckets.update({ bucket: 'photos', body: { max_object_bytes: 0 } });
    const completed = await complete(tenant, id);
    expect(completed.status).toBe(200);
    expect(await (await complete(tenant, id)).json()).toEqual(await completed.json());
    expect(await (await send(tenant, 'GET', '/buckets/photos/objects/2026/cat.jpg')).text()).toBe('new');
    const aborted = await begin(tenant);
    await abort(tenant, aborted);
    expect((await complete(tenant, aborted)).status).toBe(409);
  });

  it('abort: 204, also again; 400, 404 and 409', async () => {
    const tenant = await tenantWith();
    const id = await begin(tenant);
    expect((await abort(tenant, id)).status).toBe(204);
    expect((await abort(tenant, id)).status).toBe(204);
    expect((await abort(tenant, 'upl_x')).status).toBe(400);
    expect((await abort(tenant, gone)).status).toBe(404);
    const completed = await begin(tenant);
    await part(tenant, completed);
    await complete(tenant, completed);
    expect((await abort(tenant, completed)).status).toBe(409);
  });
});
