import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SignedLink } from '../../../../generated/storage/types.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { base, pathOf, rawStatus, tools } from '../testing.ts';

const secret = (digit: string) => digit.repeat(64);
let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({
    services: ['storage'],
    env: { PLINTH_STORAGE_SIGNING_KEYS: `new:${secret('1')},old:${secret('2')}` },
  });
  api = tools(server);
  await api.bucket('photos', { allowed_content_types: ['image/*', 'text/*', 'application/octet-stream'] });
  await api.put('photos', '2026/März report.pdf', 'a report');
});
afterAll(() => server.close());

const presign = async (body: object): Promise<SignedLink> =>
  (await api.send('POST', '/buckets/photos/presign', { body })).body;

/** Uses a link at the address of the test server, without a credential. */
const use = (
  url: string,
  method = 'GET',
  { headers = {}, body }: { headers?: Record<string, string>; body?: string } = {},
) =>
  fetch(url.replace(/^http:\/\/[^/]+/, server.url), { method, headers, ...(body !== undefined && { body }) });

const refused = async (url: string, method = 'GET', options = {}) => {
  const response = await use(url, method, options);
  return [response.status, await response.text()];
};
const invalid = [403, '{"error":"link is invalid or expired","code":403}'];

describe('a link', () => {
  it('to read serves GET and HEAD, and nothing else', async () => {
    const { url, method, headers, expires_at } = await presign({
      key: '2026/März report.pdf',
      method: 'GET',
    });
    expect([method, headers]).toEqual(['GET', {}]);
    expect(Math.abs(Date.parse(expires_at) - Date.now() - 900_000)).toBeLessThan(60_000);
    expect(await (await use(url)).text()).toBe('a report');
    expect((await use(url, 'HEAD')).status).toBe(200);
    expect(await refused(url, 'DELETE')).toEqual(invalid);
    expect(await refused(url, 'PUT', { body: 'x' })).toEqual(invalid);
  });

  it('is worth nothing after any change', async () => {
    const { url } = await presign({ key: '2026/März report.pdf', method: 'GET' });
    const parsed = new URL(url);
    const changes: string[] = [
      `${url}&download=x`,
      `${url}&store_kid=new`,
      url.replace('/photos/', '/other/'),
    ];
    for (const [name, value] of parsed.searchParams) {
      const changed = new URL(url);
      const last = value.at(-1) === '1' ? '2' : '1';
      changed.searchParams.set(name, value.slice(0, -1) + last);
      changes.push(changed.href);
      const without = new URL(url);
      without.searchParams.delete(name);
      changes.push(without.href);
    }
    changes.push(
      url.replace('report.pdf', 'report.pdg'),
      url.replace(/store_signature=./, 'store_signature=Z'),
    );
    for (const changed of changes)
      expect([changed, ...(await refused(changed))]).toEqual([changed, ...invalid]);
  });

  it('is worth nothing for another bucket, whatever its key looks like', async () => {
    const key = 'a/buckets/photos/objects/b';
    await api.bucket('other');
    await api.put('photos', key, 'meant');
    await api.put('other', key, 'not meant');
    const { url } = await presign({ key, method: 'GET' });
    expect(await (await use(url)).text()).toBe('meant');
    const path = `${base}/%62uckets/other/objects/${key}?${url.split('?')[1]}`;
    expect(await rawStatus(server, path, { token: null })).toBe(403);
  });

  it('without its signature is worth nothing beside a credential either, and names no tenant', async () => {
    const { url } = await presign({ key: '2026/März report.pdf', method: 'GET' });
    const unsigned = new URL(url);
    unsigned.searchParams.delete('store_signature');
    for (const search of [unsigned.search, '?store_tenant=t9', '?store_max_bytes=1'])
      expect(await rawStatus(server, `${unsigned.pathname}${search}`)).toBe(403);
    expect(await rawStatus(server, unsigned.pathname)).toBe(200);
  });

  it('ends when its time is over', async () => {
    const { url } = await presign({ key: 'a', method: 'GET', expires_in: '1s' });
    await expect.poll(() => refused(url), { timeout: 5_000 }).toEqual(invalid);
  });

  it('ends together with the bucket', async () => {
    await api.bucket('short');
    await api.put('short', 'a', 'x');
    const { body } = await api.send('POST', '/buckets/short/presign', { body: { key: 'a', method: 'GET' } });
    await api.send('DELETE', '/buckets/short?force=true');
    await api.bucket('short');
    await api.put('short', 'a', 'x');
    expect(await refused(body.url)).toEqual(invalid);
  });

  it('to upload limits what may be uploaded', async () => {
    const key = 'uploads/cat.png';
    const { url, headers } = await presign({
      ...{ key, method: 'PUT', max_bytes: 5, content_type: 'image/png', if_none_match: '*' },
    });
    expect(headers).toEqual({ 'Content-Type': 'image/png' });
    expect(await refused(url, 'PUT', { body: 'abc', headers: { 'content-type': 'text/html' } })).toEqual(
      invalid,
    );
    expect(await refused(url, 'PUT', { body: '123456', headers })).toEqual([
      413,
      '{"error":"object too large: at most 5 bytes","code":413}',
    ]);
    expect((await use(url, 'PUT', { body: '12345', headers })).status).toBe(201);
    expect(await refused(url, 'PUT', { body: '54321', headers })).toEqual([
      412,
      '{"error":"precondition failed","code":412}',
    ]);
    expect((await api.bytes('photos', key)).toString()).toBe('12345');
  });

  it('to delete deletes once', async () => {
    await api.put('photos', 'doomed', 'x');
    const { url } = await presign({ key: 'doomed', method: 'DELETE' });
    expect((await use(url, 'DELETE')).status).toBe(204);
    expect((await use(url, 'DELETE')).status).toBe(404);
  });

  it('is refused with impossible demands', async () => {
    const refusal = (body: object) => api.refusal('POST', '/buckets/photos/presign', { body });
    expect(await refusal({ key: 'a', method: 'GET', expires_in: '169h' })).toEqual([
      400,
      'expires_in: at most 168h',
    ]);
    expect(await refusal({ key: 'a', method: 'GET', expires_in: '10ms' })).toEqual([
      400,
      'expires_in: at least 1s',
    ]);
    expect(await refusal({ key: 'a', method: 'GET', max_bytes: 1 })).toEqual([
      400,
      'max_bytes: only with PUT',
    ]);
    expect(await refusal({ key: 'a//b', method: 'GET' })).toEqual([
      400,
      expect.stringMatching(/^invalid object key: /),
    ]);
  });
});

it('links of an older key are accepted, and new ones are signed with the first', async () => {
  const { url } = await presign({ key: '2026/März report.pdf', method: 'GET' });
  expect(new URL(url).searchParams.get('store_kid')).toBe('new');
  const older = await testServer({
    services: ['storage'],
    env: { PLINTH_STORAGE_SIGNING_KEYS: `old:${secret('2')}` },
  });
  try {
    await tools(older).bucket('photos');
    const [{ id }] = await server.db.sql<
      [{ id: string }]
    >`select id from storage.buckets where name = 'photos'`;
    await older.db.sql`update storage.usage set bucket_id = ${id} where bucket_id <> ''`;
    await older.db.sql`update storage.buckets set id = ${id}`;
    const { body } = await tools(older).send('POST', '/buckets/photos/presign', {
      body: { key: '2026/März report.pdf', method: 'GET' },
    });
    expect(await (await use(body.url)).text()).toBe('a report');
  } finally {
    await older.close();
  }
});

it('links end with the API key that had them made, and with its rights', async () => {
  const both = await testServer({ services: ['storage', 'keys'] });
  try {
    const { send, bucket, put } = tools(both);
    await bucket('photos');
    await put('photos', 'cat.jpg', 'a cat');
    const keysPath = '/keys/v1/keys';
    const linkOf = async (name: string) => {
      const scopes = ['storage:read', 'storage:write'];
      const { raw_key, key } = (await both.request('POST', keysPath, { body: { name, scopes } })).body;
      const presigned = async (method: string) => {
        const options = { apiKey: raw_key as string, body: { key: 'cat.jpg', method } };
        const { url } = (await send('POST', '/buckets/photos/presign', options)).body as SignedLink;
        return url.replace(/^http:\/\/[^/]+/, both.url);
      };
      return { id: key.id as string, get: await presigned('GET'), remove: await presigned('DELETE') };
    };
    const [kept, revoked, narrowed] = [
      await linkOf('kept'),
      await linkOf('revoked'),
      await linkOf('narrowed'),
    ];
    const status = async (url: string, method = 'GET') => (await fetch(url, { method })).status;
    expect([await status(revoked.get), await status(narrowed.get)]).toEqual([200, 200]);
    await both.request('DELETE', `${keysPath}/${revoked.id}`);
    await both.request('DELETE', `${keysPath}/${narrowed.id}/scopes`, {
      body: { scopes: ['storage:write'] },
    });
    expect(await status(revoked.get)).toBe(403);
    expect([await status(narrowed.get), await status(narrowed.remove, 'DELETE')]).toEqual([200, 403]);
    expect([await status(kept.get), await status(kept.remove, 'DELETE')]).toEqual([200, 204]);
  } finally {
    await both.close();
  }
});
