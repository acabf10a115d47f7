import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '../../../lib/ids.ts';
import { rowsRead } from '../../../testing/rows-read.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { tools } from '../testing.ts';
import { uploadTools } from '../uploads/testing.ts';
import { objectStore, type Put } from './objects.store.ts';
import { plainFields } from './object-fields.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['storage'] });
  api = tools(server);
});
afterAll(() => server.close());

/** The objects, and the index by which they are found. */
const tables = ['storage.objects', 'storage.objects_pkey'];

/** A put of content that is in a file, or in the database. */
function putOf(key: string, text: string, isFile = false, md5: string | null = null): Put {
  const content = Buffer.from(text);
  const sha256 = createHash('sha256').update(content).digest();
  const size = content.length;
  const digest = sha256.toString('hex');
  return {
    author: { app: 'default', actor: 'root', request_id: null },
    object: { ...plainFields, key, size, etag: `"${digest}"`, checksum: `sha256:${digest}` },
    condition: null,
    blob: {
      ...{ id: newId('blb'), size, sha256, crc32c: 0, md5 },
      ...{ blocks: isFile ? Buffer.alloc(4) : Buffer.alloc(0), content: isFile ? null : content },
    },
  };
}

const none = { quota_bytes: 0, quota_objects: 0 };
const numbered = (count: number) => Array.from({ length: count }, (_, n) => `key-${n}`);

/** Stores in one commit, as another process would. */
const putAll = (bucketId: string, puts: readonly Put[]) =>
  server.db.statement((sql) => objectStore(sql).putAll('default', { id: bucketId }, puts, none));

const usageOf = async (bucket: string) =>
  ((await api.send('GET', `/buckets/${bucket}`)).body as { usage: object }).usage;

it('counts each key once when several processes create the same ones', async () => {
  const { id } = await api.bucket('raced');
  const keys = numbered(20);
  const writers = Array.from({ length: 6 }, (_, n) => `writer-${n}`);
  const outcomes = await Promise.all(
    writers.map((one) =>
      putAll(
        id,
        keys.map((key) => putOf(key, one)),
      ),
    ),
  );
  const created = outcomes.flat().filter((one) => 'committed' in one && !one.committed.replaced);
  expect(created).toHaveLength(keys.length);
  expect(await usageOf('raced')).toEqual({
    bytes: keys.length * 'writer-0'.length,
    objects: keys.length,
    upload_bytes: 0,
  });
});

it('replaces content in parts together with other content', async () => {
  const { id } = await api.bucket('parts');
  const uploads = uploadTools(api);
  const upload = await uploads.begin('parts', 'key-1');
  await uploads.part(upload, 1, 'one');
  await uploads.complete(upload);
  await putAll(
    id,
    numbered(3).map((key) => putOf(key, `new ${key}`)),
  );
  for (const key of numbered(3)) expect(String(await api.bytes('parts', key))).toBe(`new ${key}`);
  expect(await usageOf('parts')).toEqual({ bytes: 3 * 'new key-0'.length, objects: 3, upload_bytes: 0 });
});

it('points to one file when a commit has the same content several times', async () => {
  const { id } = await api.bucket('equal');
  const outcomes = await putAll(
    id,
    numbered(3).map((key) => putOf(key, 'the same', true)),
  );
  const blobs = outcomes.map((one) => 'committed' in one && one.committed.blob_id);
  expect(new Set(blobs).size).toBe(1);
});

it('learns the MD5 of files that are stored already, however often and in whatever order', async () => {
  const { id } = await api.bucket('md5');
  const md5 = 'd41d8cd98f00b204e9800998ecf8427e';
  const keys = numbered(10);
  await putAll(
    id,
    keys.map((key) => putOf(key, `content of ${key}`, true)),
  );
  const again = (prefix: string, order: readonly string[]) =>
    putAll(
      id,
      order.map((key, n) => putOf(`${prefix}-${n}`, `content of ${key}`, true, md5)),
    );
  await Promise.all([again('up', keys), again('down', keys.toReversed()), again('again', keys)]);
  const rows = await server.db.sql<{ md5: string | null }[]>`
    select encode(blobs.md5, 'hex') as md5
    from storage.objects join storage.blobs on blobs.tenant_id = objects.tenant_id and blobs.id = objects.blob_id
    where bucket_id = ${id}`;
  expect(rows).toHaveLength(40);
  expect(new Set(rows.map((row) => row.md5))).toEqual(new Set([md5]));
});

it('refuses all puts of a commit that exceed a quota together', async () => {
  const { id } = await api.bucket('small', { quota_objects: 2 });
  await expect(
    putAll(
      id,
      numbered(3).map((key) => putOf(key, 'content')),
    ),
  ).rejects.toThrow('bucket quota exceeded');
  expect(await usageOf('small')).toMatchObject({ objects: 0 });
});

it('reads none of the other objects of a large bucket that nobody has counted', async () => {
  const { id } = await api.bucket('large');
  await server.db.sql`
    insert into storage.objects (tenant_id, bucket_id, key, size, etag, checksum, content_type)
    select 'default', ${id}, 'key-' || n, 0, '"x"', 'crc32c:00000000', 'text/plain' from generate_series(0, 4999) as n`;
  const puts = [...numbered(10), 'new-1', 'new-2'].map((key) => putOf(key, `content of ${key}`, true));
  const read = await server.db.transaction((sql) =>
    rowsRead(sql, tables, () => objectStore(sql).putAll('default', { id }, puts, none)),
  );
  expect(read).toBeLessThan(10 * puts.length);
});
