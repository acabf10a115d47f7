import { describe, expect, it } from 'vitest';
import { behaviour } from '../harness.ts';
import { absent, newBucket, put, send } from './content.ts';

const object = '/buckets/photos/objects/2026/cat.jpg';
const noObject = '/buckets/photos/objects/absent';
const noBucket = '/buckets/absent/objects/a';
const badKey = '/buckets/photos/objects/a//b';

behaviour('Objects', (api) => {
  const tenantWith = async (settings: object = {}) => {
    const tenant = api.tenant();
    await newBucket(tenant, settings);
    return tenant;
  };
  const error = async (response: Response) => [
    response.status,
    ((await response.json()) as { error: string }).error,
  ];

  it('put: 201 for a new object, 200 for one that replaces another', async () => {
    const tenant = await tenantWith();
    const first = await put(tenant, 'photos', 'new', 'abc', { 'x-store-meta-camera': 'x100' });
    expect([first.status, (await first.json()) as object]).toMatchObject([
      201,
      { metadata: { camera: 'x100' } },
    ]);
    expect((await put(tenant, 'photos', 'new', 'abcd')).status).toBe(200);
  });

  it('put: 400 for a checksum that is wrong and for a key that cannot be', async () => {
    const tenant = await tenantWith();
    const wrong = { 'x-store-checksum': 'crc32c:00000000' };
    expect(await error(await put(tenant, 'photos', 'a', 'abc', wrong))).toEqual([
      400,
      'checksum mismatch: crc32c expected 00000000 got 364b3fb7',
    ]);
    expect((await send(tenant, 'PUT', badKey, {}, 'x')).status).toBe(400);
  });

  it('put: 404, 412, 413 and 415', async () => {
    const tenant = await tenantWith({ allowed_content_types: ['image/*'], max_object_bytes: 10 });
    expect((await put(tenant, absent.bucket, 'a')).status).toBe(404);
    expect((await put(tenant, 'photos', '2026/cat.jpg', 'abc', { 'if-none-match': '*' })).status).toBe(412);
    expect((await put(tenant, 'photos', 'a', 'x'.repeat(11))).status).toBe(413);
    expect((await put(tenant, 'photos', 'a', 'x', { 'content-type': 'text/html' })).status).toBe(415);
  });

  it('get: 200, 206, 304, 400, 404, 412 and 416', async () => {
    const tenant = await tenantWith();
    const get = (path: string, headers: Record<string, string> = {}) => send(tenant, 'GET', path, headers);
    const whole = await get(object);
    const etag = whole.headers.get('etag')!;
    expect([whole.status, await whole.text()]).toEqual([200, 'abc']);
    const range = await get(object, { range: 'bytes=1-' });
    expect([range.status, await range.text()]).toEqual([206, 'bc']);
    expect((await get(object, { 'if-none-match': etag })).status).toBe(304);
    expect((await get(badKey)).status).toBe(400);
    expect(await error(await get(noObject))).toEqual([404, 'object not found']);
    expect(await error(await get(noBucket))).toEqual([404, 'bucket not found']);
    expect((await get(object, { 'if-match': '"x"' })).status).toBe(412);
    expect((await get(object, { range: 'bytes=9-' })).status).toBe(416);
  });

  it('head: 200, 304, 400, 404 and 412', async () => {
    const tenant = await tenantWith();
    const head = async (path: string, headers: Record<string, string> = {}) =>
      (await send(tenant, 'HEAD', path, headers)).status;
    expect(await head(object)).toBe(200);
    expect(await head(object, { 'if-none-match': '*' })).toBe(304);
    expect(await head(badKey)).toBe(400);
    expect(await head(noObject)).toBe(404);
    expect(await head(object, { 'if-match': '"x"' })).toBe(412);
  });

  it('delete: 204, 400, 404 and 412', async () => {
    const tenant = await tenantWith();
    const remove = async (path: string, headers: Record<string, string> = {}) =>
      (await send(tenant, 'DELETE', path, headers)).status;
    expect(await remove(badKey)).toBe(400);
    expect(await remove(object, { 'if-match': '"x"' })).toBe(412);
    expect(await remove(object)).toBe(204);
    expect(await remove(object)).toBe(404);
  });

  it('update: 200, 400, 404, 412 and 415', async () => {
    const tenant = await tenantWith({ allowed_content_types: ['image/*'] });
    const { objects } = tenant.plinth.storage;
    const key = '2026/cat.jpg';
    const updated = await objects.update({ bucket: 'photos', key, body: { metadata: { camera: 'x100' } } });
    expect(updated).toMatchObject({ key, metadata: { camera: 'x100' } });
    const refused = (status: number, body: object, more: object = {}) =>
      tenant.refused(status, /./, ({ storage }) =>
        storage.objects.update({ bucket: 'photos', key, body, ...more }),
      );
    await refused(400, { metadata: { 'A B': 'x' } });
    await refused(404, {}, { key: 'absent' });
    await refused(412, {}, { 'If-Match': '"x"' });
    await refused(415, { content_type: 'text/html' });
  });

  it('list: 200 with objects and prefixes, 400 and 404', async () => {
    const tenant = await tenantWith();
    const list = (path: string) => send(tenant, 'GET', path);
    const page = (await (await list('/buckets/photos/objects?delimiter=/')).json()) as object;
    expect(page).toEqual({ objects: [], prefixes: ['2026/'], truncated: false, cursor: null });
    expect(await error(await list('/buckets/photos/objects?cursor=AAAA'))).toEqual([400, 'invalid cursor']);
    expect((await list('/buckets/absent/objects')).status).toBe(404);
  });

  describe('copy', () => {
    it('201, 200, 400, 404, 412, 413 and 415', async () => {
      const tenant = await tenantWith({ allowed_content_types: ['image/*'], quota_bytes: 6 });
      const copy = async (body: object, headers: Record<string, string> = {}) =>
        (
          await send(
            tenant,
            'POST',
            '/buckets/photos/copy',
            { 'content-type': 'application/json', ...headers },
            JSON.stringify(body),
          )
        ).status;
      const source = { source_key: '2026/cat.jpg', key: 'copy' };
      expect(await copy(source)).toBe(201);
      expect(await copy(source)).toBe(200);
      expect(await copy({ key: 'copy' })).toBe(400);
      expect(await copy({ ...source, source_key: 'absent' })).toBe(404);
      expect(await copy(source, { 'if-none-match': '*' })).toBe(412);
      expect(await copy({ ...source, key: 'another' })).toBe(413);
      expect(await copy({ ...source, metadata_directive: 'replace', content_type: 'text/html' })).toBe(415);
    });

    it('409 when the idempotency key was used with another body', async () => {
      const tenant = await tenantWith();
      const headers = { 'content-type': 'application/json', 'idempotency-key': 'copy-1' };
      const copy = (key: string) =>
        send(
          tenant,
          'POST',
          '/buckets/photos/copy',
          headers,
          JSON.stringify({ source_key: '2026/cat.jpg', key }),
        );
      expect((await copy('a')).status).toBe(201);
      expect(await error(await copy('b'))).toEqual([409, 'idempotency key was used with another request']);
    });
  });

  it('deleteMany: 200 and 404', async () => {
    const tenant = await tenantWith();
    const keys = ['2026/cat.jpg', 'absent'];
    const { objects } = tenant.plinth.storage;
    expect(await objects.deleteMany({ bucket: 'photos', body: { keys } })).toEqual({
      deleted: keys,
      errors: [],
    });
    await tenant.refused(404, 'bucket not found', ({ storage }) =>
      storage.objects.deleteMany({ bucket: absent.bucket, body: { keys } }),
    );
  });

  it('presign: 200 with a link, 400 and 404; a link that was changed is a 403', async () => {
    const tenant = await tenantWith();
    const { url } = await tenant.plinth.storage.objects.presign({
      bucket: 'photos',
      body: { key: '2026/cat.jpg', method: 'GET' },
    });
    const { pathname, search } = new URL(url);
    const anonymous = tenant.anonymous();
    expect((await anonymous.fetch(pathname + search)).status).toBe(200);
    expect((await anonymous.fetch(`${pathname}${search}0`)).status).toBe(403);
    const refused = (status: number, body: object, bucket = 'photos') =>
      tenant.refused(status, /./, ({ storage }) =>
        storage.objects.presign({ bucket, body: { key: 'a', method: 'GET', ...body } }),
      );
    await refused(400, { expires_in: '200h' });
    await refused(404, {}, absent.bucket);
  });
});
