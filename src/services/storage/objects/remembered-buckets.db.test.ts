import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Bucket } from '../../../../generated/storage/types.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { filesOf, pathOf, putting, tools } from '../testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
let bucket: string;
let count = 0;
beforeAll(async () => {
  server = await testServer({ services: ['storage'], env: { PLINTH_STORAGE_INLINE_MAX: '16' } });
  api = tools(server);
});
afterAll(() => server.close());

/** A bucket that the server remembers, because something was put into it. */
beforeEach(async () => {
  bucket = `bucket-${++count}`;
  await api.bucket(bucket);
  await api.put(bucket, 'first', 'content');
});

/** Changes the bucket as another process would, of which this one does not hear. */
const changed = (settings: Record<string, unknown>) =>
  server.db.sql`update storage.buckets set ${server.db.sql(settings)} where name = ${bucket}`;

const long = 'content that is kept in a file';

it.each([
  [{ max_object_bytes: 10 }, [413, 'object too large: at most 10 bytes']],
  [{ allowed_content_types: ['image/*'] }, [415, 'content type is not allowed in this bucket']],
])('does not take by a bucket what it no longer allows: %o', async (settings, refusal) => {
  const files = await filesOf(server);
  await changed(settings);
  expect(await api.refusal('PUT', pathOf(bucket, 'second'), putting(long))).toEqual(refusal);
  expect((await api.refusal('HEAD', pathOf(bucket, 'second')))[0]).toBe(404);
  expect(await filesOf(server)).toEqual(files);
});

it.each([
  [{ max_object_bytes: 10 }, { max_object_bytes: 0 }],
  [{ allowed_content_types: ['image/*'] }, { allowed_content_types: [] }],
])('takes at once what a bucket with %o allows again', async (before, after) => {
  await changed(before);
  await api.refusal('PUT', pathOf(bucket, 'second'), putting(long));
  await changed(after);
  await api.put(bucket, 'second', long);
  expect(String(await api.bytes(bucket, 'second'))).toBe(long);
});

it('stores what a bucket still takes after a change, and tells whatever the bucket is to tell now', async () => {
  await changed({ events: false });
  await Promise.all(['a', 'b', 'c'].map((key) => api.put(bucket, key, `${long} ${key}`)));
  for (const key of ['a', 'b', 'c']) expect(String(await api.bytes(bucket, key))).toBe(`${long} ${key}`);
  const { count } = await server.db.sql`
    select from storage.outbox where type = 'storage.object.created' and subject like ${`${bucket}/_`}`;
  expect(count).toBe(0);
});

it('does not store in a bucket that was deleted', async () => {
  await changed({ name: null });
  expect(await api.refusal('PUT', pathOf(bucket, 'second'), putting(long))).toEqual([
    404,
    'bucket not found',
  ]);
});

it('stores in the bucket that has the name now', async () => {
  await changed({ name: null });
  const { id } = await api.bucket(bucket);
  await api.put(bucket, 'second', long);
  const { count } = await server.db
    .sql`select from storage.objects where bucket_id = ${id} and key = 'second'`;
  expect(count).toBe(1);
});

it('refuses nothing because of what is in a bucket that had the name before', async () => {
  await api.put(bucket, 'second', long);
  await changed({ name: null });
  await api.bucket(bucket);
  await api.send('PUT', pathOf(bucket, 'second'), putting(long, { headers: { 'if-none-match': '*' } }));
  expect(String(await api.bytes(bucket, 'second'))).toBe(long);
});

it('stores everything that arrives while the bucket changes again and again', async () => {
  const keys = Array.from({ length: 100 }, (_, n) => `key-${n}`);
  let storing = true;
  const changing = (async () => {
    for (let n = 0; storing; n++)
      await api.send('PATCH', `/buckets/${bucket}`, { body: { max_object_bytes: 1_000 + (n % 2) } });
  })();
  await Promise.all(keys.map((key) => api.put(bucket, key, `${long} ${key}`))).finally(
    () => (storing = false),
  );
  await changing;
  for (const key of keys) expect(String(await api.bytes(bucket, key))).toBe(`${long} ${key}`);
  const { usage } = (await api.send('GET', `/buckets/${bucket}`)).body as Bucket;
  expect(usage).toMatchObject({ objects: keys.length + 1 });
});

it('knows a bucket of another tenant under the same name from its own', async () => {
  const foreign = { tenant: 'other' };
  expect(await api.refusal('PUT', pathOf(bucket, 'second'), putting(long, foreign))).toEqual([
    404,
    'bucket not found',
  ]);
  const { id } = await api.bucket(bucket, {}, foreign);
  await api.put(bucket, 'second', long, foreign);
  const { count } = await server.db
    .sql`select from storage.objects where bucket_id = ${id} and key = 'second'`;
  expect(count).toBe(1);
  expect((await api.refusal('HEAD', pathOf(bucket, 'second')))[0]).toBe(404);
});
