import { afterAll, beforeAll, expect, it } from 'vitest';
import { rowsRead } from '../../../testing/rows-read.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { tools } from '../testing.ts';
import { objectStore } from './objects.store.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['storage'] });
  api = tools(server);
});
afterAll(() => server.close());

/** The objects, and the index by which they are found. */
const tables = ['storage.objects', 'storage.objects_pkey'];

const objects = 5_000;

/** Objects without bytes, in tables that nobody has counted. */
async function filled(bucket: string): Promise<string> {
  const { id } = await api.bucket(bucket);
  await server.db.sql`
    insert into storage.objects (tenant_id, bucket_id, key, size, etag, checksum, content_type)
    select 'default', ${id}, 'key-' || n, 0, '"x"', 'crc32c:00000000', 'text/plain'
    from generate_series(1, ${objects}::integer) as n`;
  await server.db.sql`
    update storage.usage set objects = objects + ${objects}::bigint where tenant_id = 'default' and bucket_id in ('', ${id})`;
  return id;
}

it('of some objects does not read the others of a large bucket', async () => {
  const id = await filled('large');
  const keys = Array.from({ length: 100 }, (_, n) => `key-${(n + 1) * 50}`);
  const commit = {
    author: { tenant: 'default', app: 'default', actor: 'root', requestId: 'r' },
    bucketId: id,
    condition: null,
    quota: { quota_bytes: 0, quota_objects: 0 },
  };
  let deleted: string[] = [];
  const read = await server.db.transaction((sql) =>
    rowsRead(
      sql,
      tables,
      async () => (deleted = await objectStore(sql).delete(commit, [...keys, 'absent', keys[0]!])),
    ),
  );
  expect(deleted).toEqual(keys.toSorted());
  expect(read).toBeLessThan(5 * keys.length);
  expect((await api.send('GET', '/buckets/large')).body).toMatchObject({
    usage: { objects: objects - keys.length },
  });
});

it('of a bucket with everything in it leaves nothing', async () => {
  const id = await filled('emptied');
  expect((await api.send('DELETE', '/buckets/emptied?force=true')).status).toBe(204);
  const left = async () =>
    (await server.db.sql`select from storage.buckets where id = ${id}`).count +
    (await server.db.sql`select from storage.objects where bucket_id = ${id} limit 1`).count;
  await expect.poll(left, { timeout: 30_000 }).toBe(0);
});
