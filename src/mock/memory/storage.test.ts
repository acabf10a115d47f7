/** Tests how a stateful mock stores bytes, with the storage service. */
import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createPlinth } from '../../../sdk/src/index.ts';
import { startMock, type Mock } from '../index.ts';

// The first request of a service prepares it.
vi.setConfig({ testTimeout: 30_000 });

let mock: Mock;
beforeAll(async () => {
  const only = ['storage'];
  mock = await startMock({ port: 0, host: '127.0.0.1', stateful: true, services: only, log: { info() {} } });
});
afterAll(() => mock.close());

const mebibyte = 1024 * 1024;
const tagOf = (bytes: Uint8Array | string) => `"${createHash('sha256').update(bytes).digest('hex')}"`;

let count = 0;
/** Returns a caller with its own tenant and a new bucket. */
async function caller() {
  const tenant = `t-${(count += 1)}`;
  const credentials = { authorization: 'Bearer any', 'x-tenant-id': tenant };
  const plinth = createPlinth({ baseUrl: mock.url, token: 'any', headers: { 'x-tenant-id': tenant } });
  await plinth.storage.buckets.create({ body: { name: 'wards' } });
  const send = (verb: string, path: string, headers: Record<string, string> = {}, body?: BodyInit) =>
    fetch(`${mock.url}/storage/store/v1${path}`, {
      method: verb,
      headers: { ...credentials, ...headers },
      ...(body === undefined ? {} : { body }),
    });
  const put = (key: string, body: BodyInit, headers: Record<string, string> = {}) =>
    send('PUT', `/buckets/wards/objects/${key}`, { 'content-type': 'text/plain', ...headers }, body);
  const get = (key: string, headers: Record<string, string> = {}) =>
    send('GET', `/buckets/wards/objects/${key}`, headers);
  return { storage: plinth.storage, send, put, get };
}

describe('a bucket', () => {
  it('that is new lists nothing, and then what was put there', async () => {
    const { storage, put } = await caller();
    expect(await storage.objects.list({ bucket: 'wards' })).toEqual({
      objects: [],
      truncated: false,
      prefixes: [],
      cursor: null,
    });
    await put('b.txt', 'bee');
    await put('a/1.txt', 'one');
    const { objects } = await storage.objects.list({ bucket: 'wards' });
    expect(objects).toEqual([
      expect.objectContaining({ key: 'a/1.txt', size: 3, content_type: 'text/plain' }),
      expect.objectContaining({ key: 'b.txt', size: 3, etag: tagOf('bee') }),
    ]);
    expect(Object.keys(objects[0]!).sort()).toEqual(['content_type', 'etag', 'key', 'last_modified', 'size']);
    const photos = await storage.objects.list({ bucket: 'photos' });
    expect(photos.objects.map(({ key }) => key)).toEqual(['2026/cat.jpg']);
  });

  it('is walked page by page, by prefix, and as folders', async () => {
    const { storage, put } = await caller();
    for (const key of ['x/2', 'x/1', 'y', 'x/z/3', 'w']) await put(key, key);
    const keys = async (options: object) => {
      const { objects, prefixes, cursor } = await storage.objects.list({ bucket: 'wards', ...options });
      return { keys: objects.map(({ key }) => key), prefixes, cursor };
    };
    expect(await keys({ prefix: 'x/' })).toMatchObject({ keys: ['x/1', 'x/2', 'x/z/3'], prefixes: [] });
    expect(await keys({ delimiter: '/' })).toMatchObject({ keys: ['w', 'y'], prefixes: ['x/'] });
    expect(await keys({ prefix: 'x/', delimiter: '/' })).toMatchObject({
      keys: ['x/1', 'x/2'],
      prefixes: ['x/z/'],
    });
    expect(await keys({ start_after: 'x/1' })).toMatchObject({ keys: ['x/2', 'x/z/3', 'y'] });
    const first = await keys({ delimiter: '/', limit: 2 });
    expect(first).toMatchObject({ keys: ['w'], prefixes: ['x/'], cursor: expect.any(String) });
    expect(await keys({ delimiter: '/', limit: 2, cursor: first.cursor })).toEqual({
      keys: ['y'],
      prefixes: [],
      cursor: null,
    });
  });

  it('loses what is deleted together', async () => {
    const { storage, put } = await caller();
    for (const key of ['a', 'b', 'c']) await put(key, key);
    const body = { keys: ['a', 'c', 'never'] };
    expect(await storage.objects.deleteMany({ bucket: 'wards', body })).toEqual({
      deleted: body.keys,
      errors: [],
    });
    const { objects } = await storage.objects.list({ bucket: 'wards' });
    expect(objects.map(({ key }) => key)).toEqual(['b']);
  });
});

describe('an object', () => {
  it('is kept as it was put, with its type, its headers and its metadata', async () => {
    const { put, get, send } = await caller();
    const bytes = randomBytes(5 * mebibyte);
    const stored = await put('film', bytes, {
      'content-type': 'video/mp4',
      'cache-control': 'max-age=60',
      'content-language': 'de',
      'x-store-meta-camera': 'x100',
    });
    expect(stored.status).toBe(201);
    expect(await stored.json()).toMatchObject({
      bucket: 'wards',
      key: 'film',
      size: bytes.length,
      metadata: { camera: 'x100' },
    });
    const read = await get('film');
    expect(Buffer.from(await read.arrayBuffer()).equals(bytes)).toBe(true);
    const head = await send('HEAD', '/buckets/wards/objects/film');
    for (const { headers } of [read, head]) {
      expect(Object.fromEntries(headers)).toMatchObject({
        'content-length': String(bytes.length),
        'content-type': 'video/mp4',
        'content-language': 'de',
        'cache-control': 'max-age=60',
        'x-store-meta-camera': 'x100',
        etag: tagOf(bytes),
      });
      expect(headers.has('content-disposition')).toBe(false);
      expect(Date.parse(headers.get('last-modified')!)).toBeGreaterThan(Date.now() - 60_000);
    }
    expect(await (await put('film', 'short')).json()).toMatchObject({ size: 5, metadata: {} });
    const again = await get('film?download=h%C3%A9.txt');
    expect(await again.text()).toBe('short');
    expect(again.headers.get('content-disposition')).toBe(
      `attachment; filename="h_.txt"; filename*=UTF-8''h%C3%A9.txt`,
    );
    expect(again.headers.get('cache-control')).toBe('private, no-cache');
  });

  it('is refused with a sentence where it is larger than what is kept', async () => {
    const { put, get } = await caller();
    const most = new Uint8Array(8 * mebibyte);
    expect((await put('most', most)).status).toBe(201);
    const refused = await put('more', new Uint8Array(8 * mebibyte + 1));
    expect(refused.status).toBe(413);
    expect(await refused.json()).toEqual({ error: 'body: larger than 8388608 bytes', code: 413 });
    expect((await get('more')).status).toBe(404);
    for (let index = 1; index < 8; index += 1) expect((await put(`most-${index}`, most)).status).toBe(201);
    const full = await put('one', 'x');
    expect(full.status).toBe(413);
    expect(await full.json()).toMatchObject({
      error: 'body: the mock keeps at most 67108864 bytes of a tenant',
    });
    expect((await put('most', 'x')).status).toBe(200);
    expect((await put('one', 'x')).status).toBe(201);
  });

  it('is answered in ranges', async () => {
    const { put, get } = await caller();
    await put('digits', '0123456789');
    const part = await get('digits', { range: 'bytes=2-4' });
    expect([part.status, await part.text()]).toEqual([206, '234']);
    expect(part.headers.get('content-range')).toBe('bytes 2-4/10');
    expect(part.headers.get('content-length')).toBe('3');
    expect(await (await get('digits', { range: 'bytes=-3' })).text()).toBe('789');
    const beyond = await get('digits', { range: 'bytes=10-' });
    expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, 'bytes */10']);
    expect(await beyond.json()).toEqual({ error: 'range not satisfiable', code: 416 });
    const stale = await get('digits', { range: 'bytes=2-4', 'if-range': tagOf('other') });
    expect([stale.status, await stale.text()]).toEqual([200, '0123456789']);
  });

  it('is read and written under conditions', async () => {
    const { put, get, send } = await caller();
    const created = await put('note', 'one', { 'if-none-match': '*' });
    expect(created.status).toBe(201);
    const etag = created.headers.get('etag')!;
    const same = await get('note', { 'if-none-match': etag });
    expect([same.status, await same.text(), same.headers.get('etag')]).toEqual([304, '', etag]);
    const head = await send('HEAD', '/buckets/wards/objects/note', { 'if-none-match': etag });
    expect(head.status).toBe(304);
    expect((await get('note', { 'if-match': '"other"' })).status).toBe(412);
    const late = await put('note', 'two', { 'if-none-match': '*' });
    expect(late.status).toBe(412);
    expect(await late.json()).toEqual({ error: 'precondition failed', code: 412 });
    expect((await put('note', 'two', { 'if-match': '"other"' })).status).toBe(412);
    expect((await put('absent', 'two', { 'if-match': '*' })).status).toBe(412);
    expect((await put('note', 'two', { 'if-match': etag })).status).toBe(200);
    const path = '/buckets/wards/objects/note';
    expect((await send('DELETE', path, { 'if-match': etag })).status).toBe(412);
    expect((await send('DELETE', path, { 'if-match': tagOf('two') })).status).toBe(204);
  });

  it('is copied with its content, also from a content that goes by its hash', async () => {
    const { storage, put, get, send } = await caller();
    await put('from', 'words', { 'content-type': 'text/markdown' });
    const copy = { bucket: 'wards', body: { source_key: 'from', key: 'to' } };
    expect(await storage.objects.copy(copy)).toMatchObject({
      key: 'to',
      size: 5,
      content_type: 'text/markdown',
    });
    expect(await (await get('to')).text()).toBe('words');
    await put('from', 'other words');
    expect(await storage.objects.copy(copy)).toMatchObject({ key: 'to', size: 11 });
    expect(await (await get('to')).text()).toBe('other words');
    const cas = await send('PUT', '/cas', { 'content-type': 'text/plain' }, 'by hash');
    const { hash } = (await cas.json()) as { hash: string };
    const body = {
      source_hash: hash,
      key: 'to',
      metadata_directive: 'replace',
      content_type: 'a/b',
    } as const;
    expect(await storage.objects.copy({ bucket: 'wards', body })).toMatchObject({
      size: 7,
      etag: tagOf('by hash'),
    });
    const hashed = await get('to');
    expect([await hashed.text(), hashed.headers.get('content-type')]).toEqual(['by hash', 'a/b']);
    const lost = storage.objects.copy({ bucket: 'wards', body: { source_key: 'never', key: 'to' } });
    await expect(lost).rejects.toMatchObject({ status: 404 });
  });
});

it('an upload in parts becomes an object', async () => {
  const { storage, send, get } = await caller();
  const { id } = await storage.uploads.create({
    bucket: 'wards',
    body: { key: 'film', content_type: 'video/mp4' },
  });
  const part = async (number: number, text: string) => {
    const path = `/buckets/wards/uploads/${id}/parts/${number}`;
    const response = await send('PUT', path, { 'content-type': 'application/octet-stream' }, text);
    expect(await response.json()).toMatchObject({
      part_number: number,
      size: text.length,
      etag: tagOf(text),
    });
  };
  await part(2, 'def');
  await part(1, 'abc');
  const made = await storage.uploads.complete({ bucket: 'wards', id, body: {} });
  expect(made).toMatchObject({
    bucket: 'wards',
    key: 'film',
    size: 6,
    content_type: 'video/mp4',
    etag: '"9c04d30057b754af1b2d2d4f5675782dd61a5a659c34ee6c2af47526b66cafa6-2"',
    checksum: 'crc32c:53bceff1',
  });
  const read = await get('film');
  expect([await read.text(), read.headers.get('content-type')]).toEqual(['abcdef', 'video/mp4']);
});

it('a content goes by its hash', async () => {
  const { send } = await caller();
  const put = () => send('PUT', '/cas', { 'content-type': 'text/plain' }, 'words');
  const first = await put();
  const { hash, ...others } = (await first.json()) as { hash: string };
  expect([first.status, hash]).toEqual([201, `sha256:${tagOf('words').slice(1, -1)}`]);
  expect(others).toMatchObject({ size: 5, deduplicated: false });
  const again = await put();
  expect([again.status, await again.json()]).toMatchObject([200, { hash, deduplicated: true }]);
  const read = await send('GET', `/cas/${hash}`);
  expect([await read.text(), read.headers.get('content-type')]).toEqual([
    'words',
    'application/octet-stream',
  ]);
  expect((await send('DELETE', `/cas/${hash}`)).status).toBe(204);
  expect((await send('GET', `/cas/${hash}`)).status).toBe(404);
});
