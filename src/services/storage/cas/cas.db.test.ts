import { createHash, randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StoredContent } from '../../../../generated/storage/types.ts';
import type { TestRequest } from '../../../testing/server.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { base, putting, tools } from '../testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({
    services: ['storage'],
    env: { PLINTH_STORAGE_FSYNC: 'off', PLINTH_JOBS_ENGINE: 'off' },
  });
  api = tools(server);
});
afterAll(() => server.close());

const hashOf = (content: string | Uint8Array) =>
  `sha256:${createHash('sha256').update(content).digest('hex')}`;
const put = async (content: string | Uint8Array, ref?: string, options: TestRequest = {}) => {
  const answer = await api.send(
    'PUT',
    `/cas${ref === undefined ? '' : `?ref=${ref}`}`,
    putting(content, options),
  );
  return [answer.status, answer.body as StoredContent] as const;
};
const read = async (hash: string, headers: Record<string, string> = {}) => {
  const response = await fetch(`${server.url}${base}/cas/${hash}`, {
    headers: { authorization: `Bearer ${server.rootToken}`, ...headers },
  });
  return {
    status: response.status,
    headers: response.headers,
    bytes: Buffer.from(await response.arrayBuffer()),
  };
};
const stats = async (tenant = 'default') => (await api.send('GET', '/admin/stats', { tenant })).body;

/** How many files there are in the directory of the store. */
const files = async () =>
  (await readdir(join(server.db.options.dataDir, 'storage', 'blobs'), { recursive: true })).filter((name) =>
    name.includes('blb_'),
  ).length;

describe('content under its own hash', () => {
  it('is stored once for as many references as there are names', async () => {
    const hash = hashOf('abc');
    const stored = { hash, size: 3 };
    expect(await put('abc')).toEqual([201, { ...stored, deduplicated: false, references: 1 }]);
    expect(await put('abc')).toEqual([200, { ...stored, deduplicated: true, references: 1 }]);
    expect(await put('abc', 'other')).toEqual([200, { ...stored, deduplicated: true, references: 2 }]);
    await api.send('DELETE', `/cas/${hash}`);
    expect(await api.refusal('DELETE', `/cas/${hash}`)).toEqual([404, 'content not found']);
    expect((await read(hash)).bytes.toString()).toBe('abc');
    await api.send('DELETE', `/cas/${hash}?ref=other`);
    expect((await read(hash)).status).toBe(404);
    expect(await put('abc')).toEqual([201, { ...stored, deduplicated: false, references: 1 }]);
  });

  it('is stored once by 100 at the same time', async () => {
    const content = randomBytes(100_000);
    const before = await files();
    const answers = await Promise.all(Array.from({ length: 100 }, (_, place) => put(content, `r${place}`)));
    expect(answers.filter(([status]) => status === 201)).toHaveLength(1);
    expect(answers.filter(([, { deduplicated }]) => !deduplicated)).toHaveLength(1);
    expect(new Set(answers.map(([, { references }]) => references)).size).toBe(100);
    const [{ entries, blobs }] = await server.db.sql<[{ entries: number; blobs: number }]>`
      select (select count(*) from storage.cas where size = 100000) as entries,
        (select count(*) from storage.blobs where size = 100000) as blobs`;
    expect([entries, blobs, (await files()) - before]).toEqual([1, 1, 1]);
  });

  it('has ranges, conditions and headers that let it be cached forever', async () => {
    const content = randomBytes(300_000);
    const hash = hashOf(content);
    await put(content);
    const whole = await read(hash);
    expect(whole.bytes.equals(content)).toBe(true);
    const etag = `"${hash.slice(7)}"`;
    expect(Object.fromEntries(whole.headers)).toMatchObject({
      ...{ etag, 'x-store-checksum': hash, 'cache-control': 'private, max-age=31536000, immutable' },
      ...{ 'content-type': 'application/octet-stream', 'content-length': '300000', 'accept-ranges': 'bytes' },
      ...{ 'x-content-type-options': 'nosniff', 'content-security-policy': "sandbox; default-src 'none'" },
    });
    const part = await read(hash, { range: 'bytes=262143-262144' });
    expect([part.status, part.bytes]).toEqual([206, content.subarray(262_143, 262_145)]);
    expect((await read(hash, { 'if-none-match': etag })).status).toBe(304);
    expect((await read(hash, { 'if-match': '"other"' })).status).toBe(412);
    expect((await read(hash, { range: 'bytes=300000-' })).status).toBe(416);
    const head = await server.request('HEAD', `${base}/cas/${hash}`);
    const headers = ({ headers }: { headers: Headers }) =>
      ['etag', 'content-length', 'x-store-checksum', 'last-modified', 'cache-control'].map((name) =>
        headers.get(name),
      );
    expect(headers(head)).toEqual(headers(whole));
  });

  it('may be empty', async () => {
    const hash = hashOf('');
    expect(await put('')).toEqual([201, { hash, size: 0, deduplicated: false, references: 1 }]);
    expect(await put('')).toEqual([200, { hash, size: 0, deduplicated: true, references: 1 }]);
    expect((await read(hash)).bytes).toHaveLength(0);
  });

  it('is not stored when it is not what was expected', async () => {
    const expected = 'crc32c:00000000';
    expect(
      await api.refusal('PUT', '/cas', putting('wrong', { headers: { 'x-store-checksum': expected } })),
    ).toEqual([400, 'checksum mismatch: crc32c expected 00000000 got cf947eef']);
    expect((await read(hashOf('wrong'))).status).toBe(404);
  });

  it.each(['sha256:abc', 'md5:900150983cd24fb0d6963f7d28e17f72', hashOf('x').toUpperCase(), 'x'])(
    'has no hash like %s',
    async (hash) => expect(await api.refusal('GET', `/cas/${hash}`)).toEqual([400, 'invalid hash']),
  );

  it('shares its bytes with objects, and each keeps them', async () => {
    const content = randomBytes(50_000);
    const hash = hashOf(content);
    await api.bucket('shared');
    const before = await files();
    await api.put('shared', 'object', content);
    expect(await put(content)).toEqual([201, { hash, size: 50_000, deduplicated: true, references: 1 }]);
    const copy = { source_hash: hash, key: 'copy', metadata_directive: 'replace' };
    await api.send('POST', '/buckets/shared/copy', { body: copy });
    expect((await files()) - before).toBe(1);
    await api.send('DELETE', '/buckets/shared/objects/object');
    await api.send('DELETE', `/cas/${hash}`);
    expect(content.equals(await api.bytes('shared', 'copy'))).toBe(true);
  });

  it('has at most 10,000 references', async () => {
    const hash = hashOf('popular');
    await put('popular');
    await server.db.sql`
      insert into storage.cas_refs (tenant_id, sha256, ref)
      select 'default', ${Buffer.from(hash.slice(7), 'hex')}, 'r' || number from generate_series(2, 10000) as number`;
    await server.db
      .sql`update storage.cas set refs = 10000 where sha256 = ${Buffer.from(hash.slice(7), 'hex')}`;
    expect(await api.refusal('PUT', '/cas?ref=more', putting('popular'))).toEqual([
      409,
      'limit reached: 10000 references',
    ]);
    expect((await put('popular', 'r2'))[1].references).toBe(10_000);
  });

  it('replaces damaged bytes when it is stored again', async () => {
    const content = randomBytes(40_000);
    const hash = hashOf(content);
    await put(content);
    await server.db.sql`update storage.blobs set state = 'damaged' where size = 40000`;
    expect((await read(hash)).status).toBe(500);
    expect(await put(content)).toEqual([200, { hash, size: 40_000, deduplicated: false, references: 1 }]);
    expect((await read(hash)).bytes.equals(content)).toBe(true);
  });
});

describe('a tenant', () => {
  it('learns nothing of the content of others, and shares no bytes with them', async () => {
    const content = randomBytes(30_000);
    const hash = hashOf(content);
    await put(content);
    const foreign = { tenant: 'acme' };
    const absent = hashOf('never stored');
    for (const path of [`/cas/${hash}`, `/cas/${absent}`]) {
      for (const method of ['GET', 'DELETE'])
        expect(await api.refusal(method, path, foreign)).toEqual([404, 'content not found']);
      expect((await api.refusal('HEAD', path, foreign))[0]).toBe(404);
    }
    expect(await put(content, undefined, foreign)).toEqual([
      201,
      { hash, size: 30_000, deduplicated: false, references: 1 },
    ]);
    const [{ count }] = await server.db.sql<[{ count: number }]>`
      select count(*) as count from storage.blobs where size = 30000`;
    expect(count).toBe(2);
  });

  it('has room for what its quota allows, and each entry counts once', async () => {
    const tenant = 'limited';
    await api.send('PUT', `/admin/tenants/${tenant}/quota`, { body: { quota_bytes: 10, quota_objects: 0 } });
    await put('12345678', undefined, { tenant });
    await put('12345678', 'again', { tenant });
    expect(await api.refusal('PUT', '/cas', putting('123', { tenant }))).toEqual([
      413,
      'tenant quota exceeded',
    ]);
    expect(await stats(tenant)).toMatchObject({ cas_entries: 1, cas_bytes: 8, stored_bytes: 8 });
    for (const ref of ['default', 'again'])
      await api.send('DELETE', `/cas/${hashOf('12345678')}?ref=${ref}`, { tenant });
    expect(await stats(tenant)).toMatchObject({ cas_entries: 0, cas_bytes: 0 });
    await put('1234567890', undefined, { tenant });
  });

  it('is told once of content that is stored and of content that is gone', async () => {
    const tenant = 'told';
    const hash = hashOf('told');
    await put('told', 'a', { tenant });
    await put('told', 'a', { tenant });
    await put('told', 'b', { tenant });
    for (const ref of ['a', 'b']) await api.send('DELETE', `/cas/${hash}?ref=${ref}`, { tenant });
    const rows = await server.db.sql<{ type: string; data: object }[]>`
      select type, data from storage.outbox where tenant_id = ${tenant} and subject = ${hash} order by time, id`;
    expect(rows).toEqual([
      { type: 'storage.cas.stored', data: { hash, size: 4, deduplicated: false } },
      { type: 'storage.cas.stored', data: { hash, size: 4, deduplicated: true } },
      { type: 'storage.cas.deleted', data: { hash } },
    ]);
  });
});

it('content is put and deleted by many at once, and always either there or gone as a whole', async () => {
  const content = randomBytes(20_000);
  const hash = hashOf(content);
  const rounds = Array.from({ length: 30 }, async (_, round) => {
    await put(content, `r${round % 3}`);
    await server.request('DELETE', `${base}/cas/${hash}?ref=r${round % 3}`);
    const { status, bytes } = await read(hash);
    expect(status === 404 || (status === 200 && bytes.equals(content))).toBe(true);
  });
  await Promise.all(rounds);
  const [{ entries, refs }] = await server.db.sql<[{ entries: number; refs: number }]>`
    select (select count(*) from storage.cas where sha256 = ${Buffer.from(hash.slice(7), 'hex')}) as entries,
      (select count(*) from storage.cas_refs where sha256 = ${Buffer.from(hash.slice(7), 'hex')}) as refs`;
  expect([entries, refs]).toEqual([0, 0]);
});
