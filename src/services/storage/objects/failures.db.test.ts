/** Tests what becomes of a write when the directory or the database fails under it. */
import { randomBytes } from 'node:crypto';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { createPool } from '../../../db/sql.ts';
import { testServer, type TestResponse, type TestServer } from '../../../testing/server.ts';
import { until } from '../../../testing/until.ts';
import { base, filesOf, pathOf, putting, tools } from '../testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({
    services: ['storage'],
    env: { PLINTH_STORAGE_FSYNC: 'off', PLINTH_JOBS_ENGINE: 'off' },
  });
  api = tools(server);
  await api.bucket('photos');
});
afterAll(() => server.close());

const large = randomBytes(100_000);
const put = (key: string, content: string | Uint8Array) =>
  server.request('PUT', base + pathOf('photos', key), putting(content));
const unavailable = (response: TestResponse | undefined) => {
  expect([response?.status, response?.body]).toEqual([503, { error: 'storage unavailable', code: 503 }]);
  expect(response?.headers.get('retry-after')).toMatch(/^[1-9]/);
};
const usage = async () => (await api.send('GET', '/buckets/photos')).body.usage as unknown;

test('a directory that cannot be written makes large writes fail, and nothing of them is left', async () => {
  const blobs = join(server.db.options.dataDir, 'storage', 'blobs');
  await api.put('photos', 'before', large);
  const before = [await usage(), await filesOf(server)];
  await rename(blobs, `${blobs}-away`);
  unavailable(await put('before', randomBytes(100_000)));
  unavailable(await put('new', randomBytes(100_000)));
  expect((await put('small', 'kept in the database')).status).toBe(201);
  await api.send('DELETE', pathOf('photos', 'small'));
  await rename(`${blobs}-away`, blobs);
  expect([await usage(), await filesOf(server)]).toEqual(before);
  expect(await api.bytes('photos', 'before')).toEqual(large);
  expect(await api.refusal('GET', pathOf('photos', 'new'))).toEqual([404, 'object not found']);
  expect((await put('new', large)).status).toBe(201);
});

// On the embedded database a transaction has no other beside it, and no connection is lost.
test.runIf(inject('engine') === 'postgres')(
  'a database that goes away during a commit makes the write fail, and readers see the content from before',
  async () => {
    await api.put('photos', 'kept', 'before');
    const before = await usage();
    const pool = createPool({ max: 1, fetch_types: false }, server.db.url);
    let answered: Promise<TestResponse> | undefined;
    await pool.begin(async (sql) => {
      await sql`select from storage.usage for update`;
      answered = put('kept', large);
      const end = () => server.db.background`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`;
      await until(async () => (await end()).length > 0);
    });
    await pool.end();
    unavailable(await answered);
    expect((await api.bytes('photos', 'kept')).toString()).toBe('before');
    expect(await usage()).toEqual(before);
    expect((await put('kept', large)).status).toBe(200);
  },
);
