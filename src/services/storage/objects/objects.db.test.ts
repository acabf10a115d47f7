import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { filesOf, pathOf, putting, tools } from '../testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['storage'] });
  api = tools(server);
  await api.bucket('photos');
  await server.db.sql`insert into plinth.relay_positions (service, consumer) values ('storage', 'test')`;
});
afterAll(() => server.close());

const sha256 = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const large = Buffer.alloc(700_000, 'seven hundred thousand ');
const empty = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

describe('an object', () => {
  it.each([
    ['nothing', Buffer.alloc(0)],
    ['a few bytes', Buffer.from('abc')],
    ['as much as the database keeps', large.subarray(0, 16_384)],
    ['one byte more', large.subarray(0, 16_385)],
    ['several blocks', large],
  ])('with %s comes back as it was stored', async (name, content) => {
    const key = `sizes/${name}`;
    const put = await api.send(
      'PUT',
      pathOf('photos', key),
      putting(content, { headers: { 'content-type': 'image/png' } }),
    );
    const etag = `"${sha256(content)}"`;
    expect(put.status).toBe(201);
    expect(put.body).toEqual({
      ...{ bucket: 'photos', key, size: content.length, content_type: 'image/png', etag, metadata: {} },
      ...{ checksum: `sha256:${sha256(content)}`, last_modified: put.body.last_modified },
    });
    const got = await api.send('GET', pathOf('photos', key));
    const head = await api.send('HEAD', pathOf('photos', key));
    expect(await api.bytes('photos', key)).toEqual(content);
    const headers = {
      etag,
      'content-type': 'image/png',
      'content-length': String(content.length),
      'last-modified': new Date(put.body.last_modified).toUTCString(),
      'x-store-checksum': `sha256:${sha256(content)}`,
      'accept-ranges': 'bytes',
      'cache-control': 'private, no-cache',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "sandbox; default-src 'none'",
    };
    for (const [header, value] of Object.entries(headers)) {
      expect([header, got.headers.get(header)]).toEqual([header, value]);
      expect([header, head.headers.get(header)]).toEqual([header, value]);
    }
  });

  it('keeps its headers and its metadata, and shows them to GET and HEAD', async () => {
    const headers = {
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'max-age=60',
      'content-disposition': 'inline; filename="a.txt"',
      'content-encoding': 'gzip',
      'content-language': 'de',
      'x-store-meta-camera': 'x100',
      'x-store-meta-place': "utf-8''M%C3%BCnchen",
    };
    const put = await api.send('PUT', pathOf('photos', 'headers'), putting('not gzip', { headers }));
    expect(put.body.metadata).toEqual({ camera: 'x100', place: 'München' });
    const head = await api.send('HEAD', pathOf('photos', 'headers'));
    for (const [name, value] of Object.entries(headers)) expect(head.headers.get(name)).toBe(value);
    const saved = await api.send('HEAD', pathOf('photos', 'headers'));
    expect(saved.status).toBe(200);
  });

  it('is replaced as a whole, with a 200', async () => {
    await api.put('photos', 'replaced', large, { headers: { 'x-store-meta-a': '1' } });
    const put = await api.send('PUT', pathOf('photos', 'replaced'), putting('new'));
    expect(put.status).toBe(200);
    expect(put.body).toMatchObject({ size: 3, metadata: {} });
    expect(await api.bytes('photos', 'replaced')).toEqual(Buffer.from('new'));
  });

  it('is deleted once; then it is not found', async () => {
    await api.put('photos', 'gone', 'x');
    expect((await api.send('DELETE', pathOf('photos', 'gone'))).status).toBe(204);
    for (const method of ['GET', 'DELETE'])
      expect(await api.refusal(method, pathOf('photos', 'gone'))).toEqual([404, 'object not found']);
    expect(await api.refusal('GET', pathOf('absent', 'gone'))).toEqual([404, 'bucket not found']);
    expect(await api.refusal('PUT', pathOf('absent', 'gone'), putting('x'))).toEqual([
      404,
      'bucket not found',
    ]);
  });
});

describe('checksums', () => {
  it('that are right, in any number, are accepted', async () => {
    const all = 'crc32c:364b3fb7, MD5'.replace('MD5', 'md5:900150983cd24fb0d6963f7d28e17f72');
    const header = `${all}, sha256:${sha256('abc').toUpperCase()}`;
    await api.put('photos', 'summed', 'abc', { headers: { 'x-store-checksum': header } });
    await api.put('photos', 'summed', '', { headers: { 'x-store-checksum': empty } });
  });

  it.each(['sha256', 'crc32c', 'md5'])('of %s that are wrong leave nothing behind', async (algorithm) => {
    const before = await filesOf(server);
    const digits = { sha256: 64, crc32c: 8, md5: 32 }[algorithm]!;
    for (const content of ['abc', large]) {
      const right = `sha256:${sha256(content)}`;
      const wrong = `${algorithm}:${'0'.repeat(digits)}`;
      const header = algorithm === 'sha256' ? wrong : `${right},${wrong}`;
      const options = putting(content, { headers: { 'x-store-checksum': header } });
      const [status, error] = await api.refusal('PUT', pathOf('photos', 'wrong'), options);
      expect(status).toBe(400);
      expect(error).toMatch(new RegExp(`^checksum mismatch: ${algorithm} expected 0+ got [0-9a-f]+$`));
    }
    expect(await api.refusal('GET', pathOf('photos', 'wrong'))).toEqual([404, 'object not found']);
    expect(await filesOf(server)).toEqual(before);
  });

  it('that cannot be read are refused', async () => {
    const refused = (header: string) =>
      api.refusal('PUT', pathOf('photos', 'x'), putting('abc', { headers: { 'x-store-checksum': header } }));
    expect(await refused('sha1:00')).toEqual([400, expect.stringMatching(/^invalid checksum header: /)]);
    expect(await refused('crc32c:00000000,crc32c:00000000')).toEqual([
      400,
      'invalid checksum header: crc32c is given twice',
    ]);
  });
});

describe('changes of what is stored with the content', () => {
  it('keep the content and its entity tag; null brings defaults back', async () => {
    const { etag } = await api.put('photos', 'changed', 'abc', {
      headers: { 'content-language': 'de', 'cache-control': 'no-store', 'x-store-meta-a': '1' },
    });
    const body = { content_type: 'text/plain', cache_control: null, metadata: { b: '2' } };
    const changed = await api.send('PATCH', pathOf('photos', 'changed'), {
      body,
      headers: { 'if-match': etag },
    });
    expect(changed.body).toMatchObject({ etag, content_type: 'text/plain', metadata: { b: '2' }, size: 3 });
    const { headers } = await api.send('GET', pathOf('photos', 'changed'));
    expect(headers.get('content-language')).toBe('de');
    expect(headers.get('cache-control')).toBe('private, no-cache');
    expect(headers.get('x-store-meta-a')).toBeNull();
    expect(
      await api.refusal('PATCH', pathOf('photos', 'changed'), { body, headers: { 'if-match': '"x"' } }),
    ).toEqual([412, 'precondition failed']);
    expect(await api.refusal('PATCH', pathOf('photos', 'absent'), { body })).toEqual([
      404,
      'object not found',
    ]);
    expect(
      await api.refusal('PATCH', pathOf('photos', 'changed'), { body: { metadata: { 'A b': '' } } }),
    ).toEqual([400, expect.stringMatching(/^metadata: /)]);
  });
});

describe('deletion of many', () => {
  it('deletes what is there, counts what is not, and reports keys that cannot be', async () => {
    await api.put('photos', 'many/1', 'x');
    await api.put('photos', 'many/2', large);
    const long = 'ä'.repeat(600);
    const keys = ['many/2', 'many/1', 'many/absent', 'many/1', long];
    const { body } = await api.send('POST', '/buckets/photos/delete', { body: { keys } });
    expect(body).toEqual({
      deleted: ['many/2', 'many/1', 'many/absent'],
      errors: [{ key: long, error: 'invalid object key: must have at most 1024 bytes', code: 400 }],
    });
    expect(await api.refusal('GET', pathOf('photos', 'many/1'))).toEqual([404, 'object not found']);
  });

  it('takes several transactions for objects of very many parts, so that others can write meanwhile', async () => {
    const keys = ['parts/1', 'parts/2', 'parts/3'];
    for (const key of keys) await api.put('photos', key, 'x');
    await server.db.sql`update storage.objects set segments = 6000 where key in ('parts/2', 'parts/3')`;
    const { body } = await api.send('POST', '/buckets/photos/delete', { body: { keys } });
    expect(body).toEqual({ deleted: keys, errors: [] });
    const told = await server.db.sql<{ transaction: string }[]>`
      select distinct xmin::text as transaction from storage.outbox
      where type = 'storage.object.deleted' and starts_with(subject, 'photos/parts/')`;
    expect(told).toHaveLength(2);
  });
});

describe('a copy', () => {
  it('shares the bytes, takes the metadata along or replaces it, and outlives its source', async () => {
    await api.put('photos', 'source', large, {
      headers: { 'content-type': 'image/png', 'x-store-meta-a': '1' },
    });
    const files = await filesOf(server);
    const copy = (body: object, headers = {}) => api.send('POST', '/buckets/photos/copy', { body, headers });
    const same = await copy({ source_key: 'source', key: 'copy' });
    expect(same.status).toBe(201);
    expect(same.body).toMatchObject({ key: 'copy', content_type: 'image/png', metadata: { a: '1' } });
    const replaced = await copy({
      ...{ source_bucket: 'photos', source_key: 'source', key: 'source', metadata_directive: 'replace' },
      ...{ content_type: 'text/plain', metadata: { b: '2' } },
    });
    expect(replaced.status).toBe(200);
    expect(replaced.body).toMatchObject({
      content_type: 'text/plain',
      metadata: { b: '2' },
      size: large.length,
    });
    expect(await filesOf(server)).toEqual(files);
    await api.send('DELETE', pathOf('photos', 'source'));
    expect(await api.bytes('photos', 'copy')).toEqual(large);
    const options = { body: { source_key: 'copy', key: 'copy' }, headers: { 'if-none-match': '*' } };
    expect(await api.refusal('POST', '/buckets/photos/copy', options)).toEqual([412, 'precondition failed']);
  });

  it('needs exactly one source that is there', async () => {
    const refused = (body: object) => api.refusal('POST', '/buckets/photos/copy', { body });
    const hash = `sha256:${empty}`;
    expect(await refused({ key: 'x' })).toEqual([
      400,
      'source_key: exactly one of source_key and source_hash',
    ]);
    expect(await refused({ key: 'x', source_key: 'absent' })).toEqual([404, 'object not found']);
    expect(await refused({ key: 'x', source_key: 'a', source_bucket: 'absent' })).toEqual([
      404,
      'bucket not found',
    ]);
    expect(await refused({ key: 'x', source_hash: hash })).toEqual([
      400,
      'metadata_directive: must be replace with source_hash',
    ]);
    expect(await refused({ key: 'x', source_hash: hash, metadata_directive: 'replace' })).toEqual([
      404,
      'content not found',
    ]);
    expect(await refused({ key: 'x', source_key: 'copy', content_type: 'text/plain' })).toEqual([
      400,
      'content_type: only with metadata_directive replace',
    ]);
  });
});

it('equal content is stored once', async () => {
  await api.put('photos', 'equal/1', large.subarray(0, 100_000));
  const files = await filesOf(server);
  await api.put('photos', 'equal/2', large.subarray(0, 100_000));
  expect(await filesOf(server)).toEqual(files);
  expect(await api.bytes('photos', 'equal/2')).toEqual(large.subarray(0, 100_000));
});

it('each change is told once, and none of a bucket without events', async () => {
  await api.bucket('told');
  await api.bucket('silent', { events: false });
  for (const bucket of ['told', 'silent']) {
    await api.put(bucket, 'a', 'x', { headers: { 'content-type': 'text/plain' } });
    const { etag } = await api.put(bucket, 'a', 'xy');
    await api.send('PATCH', pathOf(bucket, 'a'), { body: { metadata: {} } });
    await api.send('DELETE', pathOf(bucket, 'a'));
    const events = await server.db.sql`
      select type, data from storage.outbox where subject = ${`${bucket}/a`} order by seq`;
    const common = { bucket, key: 'a' };
    const created = { ...common, etag: `"${sha256('x')}"`, multipart: false };
    expect(events).toEqual(
      bucket === 'silent'
        ? []
        : [
            {
              type: 'storage.object.created',
              data: { ...created, size: 1, content_type: 'text/plain', replaced: false },
            },
            {
              type: 'storage.object.created',
              data: { ...created, etag, size: 2, content_type: 'application/octet-stream', replaced: true },
            },
            {
              type: 'storage.object.updated',
              data: { ...common, etag, content_type: 'application/octet-stream' },
            },
            { type: 'storage.object.deleted', data: common },
          ],
    );
  }
});
