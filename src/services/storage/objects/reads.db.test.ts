import { writeFile, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { base, filesOf, pathOf, rawStatus, tools } from '../testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['storage'] });
  api = tools(server);
  await api.bucket('photos', { cors_origins: ['https://app.acme.test'] });
  await server.db.sql`insert into plinth.relay_positions (service, consumer) values ('storage', 'test')`;
});
afterAll(() => server.close());

const block = 256 * 1024;
/** Bytes that differ at every place, so that a wrong offset shows. */
const counted = (size: number) =>
  Buffer.from(Uint8Array.from({ length: size }, (_, n) => (n * 31 + (n >> 8)) & 255));

const get = (key: string, headers: Record<string, string>, query = '') =>
  fetch(server.url + base + pathOf('photos', key) + query, {
    headers: { authorization: `Bearer ${server.rootToken}`, ...headers },
  });
const status = async (key: string, headers: Record<string, string>) => {
  const response = await get(key, headers);
  await response.arrayBuffer();
  return response.status;
};

describe.each([
  ['in the database', 1_000],
  ['in a file', 2 * block + 1_000],
])('a range of an object %s', (place, size) => {
  const content = counted(size);
  const key = `ranges ${place}`;
  let etag = '';
  beforeAll(async () => void ({ etag } = await api.put('photos', key, content)));

  it.each([
    ['0-0', 0, 1],
    ['0-', 0, size],
    ['5-14', 5, 15],
    [`${size - 1}-`, size - 1, size],
    [`${size - 20}-${size + 20}`, size - 20, size],
    ['-7', size - 7, size],
    [`-${size * 2}`, 0, size],
    [
      `${Math.floor(size / 2) - 300}-${Math.floor(size / 2) + 299}`,
      Math.floor(size / 2) - 300,
      Math.floor(size / 2) + 300,
    ],
  ])('%s is that slice of the whole', async (range, start, end) => {
    const response = await get(key, { range: `bytes=${range}` });
    expect(response.status).toBe(206);
    expect(response.headers.get('content-range')).toBe(`bytes ${start}-${end - 1}/${size}`);
    expect(response.headers.get('content-length')).toBe(String(end - start));
    expect(Buffer.from(await response.arrayBuffer())).toEqual(content.subarray(start, end));
  });

  it('that cannot be read, or has several parts or another unit, is ignored', async () => {
    for (const range of ['bytes=1-2,4-5', 'lines=0-1', 'bytes=5-2', 'bytes=-', 'bytes=x-1'])
      expect([range, await status(key, { range })]).toEqual([range, 200]);
  });

  it('beyond the end is refused, with the size', async () => {
    for (const range of [`bytes=${size}-`, 'bytes=-0']) {
      const response = await get(key, { range });
      expect([response.status, response.headers.get('content-range')]).toEqual([416, `bytes */${size}`]);
      expect(await response.json()).toEqual({ error: 'range not satisfiable', code: 416 });
    }
  });

  it('depends on If-Range', async () => {
    const range = 'bytes=0-9';
    expect(await status(key, { range, 'if-range': etag })).toBe(206);
    expect(await status(key, { range, 'if-range': '"other"' })).toBe(200);
    expect(await status(key, { range, 'if-range': `W/${etag}` })).toBe(200);
  });
});

it('conditions of a read are judged in the order of RFC 9110', async () => {
  const { etag, last_modified } = await api.put('photos', 'conditions', 'abc');
  const at = new Date(last_modified).toUTCString();
  const before = new Date(Date.parse(last_modified) - 10_000).toUTCString();
  const judged = (headers: Record<string, string>) => status('conditions', headers);
  expect(await judged({ 'if-none-match': etag })).toBe(304);
  expect(await judged({ 'if-none-match': `"x", W/${etag}` })).toBe(304);
  expect(await judged({ 'if-none-match': '"x"', 'if-modified-since': at })).toBe(200);
  expect(await judged({ 'if-modified-since': at })).toBe(304);
  expect(await judged({ 'if-modified-since': before })).toBe(200);
  expect(await judged({ 'if-modified-since': 'yesterday' })).toBe(200);
  expect(await judged({ 'if-match': '"x"' })).toBe(412);
  expect(await judged({ 'if-match': `W/${etag}` })).toBe(412);
  expect(await judged({ 'if-match': etag, 'if-unmodified-since': before })).toBe(200);
  expect(await judged({ 'if-unmodified-since': before })).toBe(412);
  expect(await judged({ 'if-match': etag, 'if-none-match': etag })).toBe(304);
  expect(
    await api.refusal('GET', pathOf('photos', 'conditions'), { headers: { 'if-match': 'abc' } }),
  ).toEqual([400, 'invalid entity tag list']);
  const known = await get('conditions', { 'if-none-match': etag });
  expect([known.status, known.headers.get('etag'), await known.text()]).toEqual([304, etag, '']);
});

it('a page that was uploaded does not run in the origin of the service', async () => {
  await api.put('photos', 'page.html', '<script>alert(1)</script>', {
    headers: { 'content-type': 'text/html' },
  });
  const { headers } = await get('page.html', {});
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('content-security-policy')).toBe("sandbox; default-src 'none'");
});

it('a download is saved under the asked name, in any script, and cannot add headers', async () => {
  await api.put('photos', 'saved', 'x');
  const disposition = async (name: string) =>
    (await get('saved', {}, `?download=${encodeURIComponent(name)}`)).headers.get('content-disposition');
  expect(await disposition('cat.jpg')).toBe('attachment; filename="cat.jpg"');
  expect(await disposition('März "1".pdf')).toBe(
    `attachment; filename="M_rz _1_.pdf"; filename*=UTF-8''M%C3%A4rz%20%221%22.pdf`,
  );
  expect((await get('saved', {}, `?download=${encodeURIComponent('a\r\nX-Evil: 1')}`)).status).toBe(400);
});

it('pages of the origins of a bucket may read responses, also those that say no; others may not', async () => {
  await api.put('photos', 'shared', 'x');
  const allowed = async (origin: string, key: string, headers = {}) =>
    (await get(key, { origin, ...headers })).headers.get('access-control-allow-origin');
  expect(await allowed('https://app.acme.test', 'shared')).toBe('https://app.acme.test');
  expect(await allowed('https://app.acme.test', 'absent')).toBe('https://app.acme.test');
  expect(await allowed('https://evil.test', 'shared')).toBeNull();
  const preflight = (path: string) =>
    fetch(`${server.url}${base}${path}`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://any.test',
        'access-control-request-method': 'PUT',
        'access-control-request-headers': 'x-store-meta-camera',
      },
    });
  const asked = await preflight('/buckets/whatever/objects/a/b');
  expect([asked.status, asked.headers.get('access-control-allow-origin')]).toEqual([204, 'https://any.test']);
  expect(asked.headers.get('access-control-allow-headers')).toContain('x-store-meta-camera');
  expect(asked.headers.get('access-control-allow-methods')).toContain('PUT');
  expect((await preflight('/buckets/whatever')).headers.get('access-control-allow-origin')).toBeNull();
});

it('keys reach the object that they name, and keys that a proxy would rewrite are refused', async () => {
  const keys = [
    'ä/ö',
    '100%',
    'a+b',
    'a b',
    '#?&=',
    'dir/',
    'x:y@z',
    '😀',
    'a%2Fb',
    'é',
    'e\u0301',
    "it's(1)!*",
    '~',
    'C:\\x',
  ];
  for (const [n, key] of keys.entries()) await api.put('photos', key, `content ${n}`);
  for (const [n, key] of keys.entries())
    expect((await api.bytes('photos', key)).toString()).toBe(`content ${n}`);
  await api.put('photos', 'slash/es', 'x');
  expect((await server.request('GET', `${base}/buckets/photos/objects/slash%2Fes`)).status).toBe(200);
  expect((await server.request('GET', `${base}/buckets/photos/objects/a+b`)).text).toBe('content 2');
  for (const path of [
    'a//b',
    '/a',
    '../b',
    'a/%2e%2e/b',
    './a',
    'a%00b',
    '%C3%28',
    '%zz',
    'a'.repeat(1025),
    '%EF%BF%BF',
  ])
    expect([path, await rawStatus(server, `${base}/buckets/photos/objects/${path}`)]).toEqual([path, 400]);
});

/** Changes one byte of the only file that has this content. */
async function flip(content: Buffer, at: number): Promise<void> {
  for (const name of await filesOf(server)) {
    const file = join(server.db.options.dataDir, 'storage', 'blobs', name);
    const bytes = await readFile(file);
    if (!bytes.equals(content)) continue;
    bytes[at] = bytes[at]! ^ 1;
    return await writeFile(file, bytes);
  }
  throw new Error('no file has this content');
}

describe('a bit that flips on the disk', () => {
  it('in the first block makes the read fail before the first byte, and is told', async () => {
    const content = counted(block + 10);
    await api.put('photos', 'damaged/first', content);
    await flip(content, 100);
    for (let attempt = 0; attempt < 2; attempt++)
      expect(await api.refusal('GET', pathOf('photos', 'damaged/first'))).toEqual([
        500,
        'object content is damaged',
      ]);
    await expect
      .poll(
        async () =>
          (await server.db.sql`select data from storage.outbox where type = 'storage.blob.damaged'`).length,
      )
      .toBe(1);
    expect((await api.send('GET', '/admin/stats')).body.damaged_blobs).toBe(1);
    await api.put('photos', 'damaged/first', content);
    expect(await api.bytes('photos', 'damaged/first')).toEqual(content);
  });

  it('in a later block ends the download after the good ones', async () => {
    const content = Buffer.concat([counted(2 * block), Buffer.alloc(block, 7)]);
    await api.put('photos', 'damaged/later', content);
    await flip(content, 2 * block + 5);
    const response = await get('damaged/later', {});
    expect(response.status).toBe(200);
    const received: Uint8Array[] = [];
    const reading = (async () => {
      for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) received.push(piece);
    })();
    await expect(reading).rejects.toThrow();
    expect(content.subarray(0, 2 * block).subarray(0, Buffer.concat(received).length)).toEqual(
      Buffer.concat(received),
    );
    await expect
      .poll(async () => (await api.send('GET', '/admin/stats')).body.damaged_blobs)
      .toBeGreaterThan(1);
    expect(await status('damaged/later', {})).toBe(500);
  });

  it('and a file that is missing fails likewise', async () => {
    const content = counted(block * 2);
    await api.put('photos', 'damaged/missing', content);
    const sha256 = createHash('sha256').update(content).digest();
    const [{ id }] = await server.db.sql<
      [{ id: string }]
    >`select id from storage.blobs where sha256 = ${sha256} and state = 'live'`;
    await rm(join(server.db.options.dataDir, 'storage', 'blobs', id.slice(-2), id));
    expect(await api.refusal('GET', pathOf('photos', 'damaged/missing'))).toEqual([
      500,
      'object content is damaged',
    ]);
  });
});

it('a reader gets one version whole, while the object is overwritten and deleted', async () => {
  const content = counted(8 * block);
  await api.put('photos', 'read', content);
  const response = await get('read', {});
  for (let n = 0; n < 10; n++) await api.put('photos', 'read', `version ${n}`);
  await api.send('DELETE', pathOf('photos', 'read'));
  expect(Buffer.from(await response.arrayBuffer())).toEqual(content);
});
