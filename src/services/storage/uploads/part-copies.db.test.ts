import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { tools } from '../testing.ts';
import { partPath, uploadTools } from './testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools> & ReturnType<typeof uploadTools>;
const content = randomBytes(600_000);
beforeAll(async () => {
  server = await testServer({ services: ['storage'], env: { PLINTH_STORAGE_FSYNC: 'off' } });
  api = { ...tools(server), ...uploadTools(tools(server)) };
  await api.bucket('films');
  await api.bucket('sources');
  await api.put('sources', 'whole', content);
});
afterAll(() => server.close());

const blobs = async () =>
  (await server.db.sql<{ count: number }[]>`select count(*) as count from storage.blobs`)[0]!.count;

it('parts are copied from objects: a whole one shares its bytes, a range has its own', async () => {
  const upload = await api.begin('films', 'copied');
  const copied = async (number: number, body: object) =>
    (
      await api.send('POST', `${partPath(upload, number)}/copy`, {
        body: { source_bucket: 'sources', ...body },
      })
    ).body;
  const before = await blobs();
  const whole = await copied(1, { source_key: 'whole' });
  expect(whole).toMatchObject({ part_number: 1, size: content.length });
  expect(await blobs()).toBe(before);
  expect(await copied(2, { source_key: 'whole', source_range: 'bytes=0-599999' })).toMatchObject({
    etag: whole.etag,
  });
  expect(await blobs()).toBe(before);
  await copied(3, { source_key: 'whole', source_range: 'bytes=262140-262149', source_etag: whole.etag });
  await api.complete(upload, { size: 1_200_010 });
  const expected = Buffer.concat([content, content, content.subarray(262_140, 262_150)]);
  expect(expected.equals(await api.bytes('films', 'copied'))).toBe(true);

  const second = await api.begin('films', 'of-parts');
  const range = 'bytes=599990-600009';
  await api.send('POST', `${partPath(second, 1)}/copy`, {
    body: { source_key: 'copied', source_range: range },
  });
  await api.send('POST', `${partPath(second, 2)}/copy`, { body: { source_key: 'copied' } });
  await api.complete(second);
  await api.send('DELETE', '/buckets/films/objects/copied');
  await api.send('DELETE', '/buckets/sources/objects/whole');
  const both = Buffer.concat([expected.subarray(599_990, 600_010), expected]);
  expect(both.equals(await api.bytes('films', 'of-parts'))).toBe(true);
});

it('a part is not copied from what is not there, is not the same or is too short', async () => {
  await api.put('sources', 'short', 'abc');
  await api.put('sources', 'empty', '');
  const upload = await api.begin('films', 'refused');
  const refused = (body: object) =>
    api.refusal('POST', `${partPath(upload, 1)}/copy`, { body: { source_bucket: 'sources', ...body } });
  expect(await refused({ source_key: 'absent' })).toEqual([404, 'object not found']);
  expect(await refused({ source_key: 'short', source_bucket: 'absent' })).toEqual([404, 'bucket not found']);
  const writer = {
    body: { source_bucket: 'sources', source_key: 'short' },
    headers: { 'x-scopes': 'storage:write' },
  };
  expect(await api.refusal('POST', `${partPath(upload, 1)}/copy`, writer)).toEqual([403, 'forbidden']);
  expect((await refused({ source_key: 'a//b' }))[0]).toBe(400);
  expect(await refused({ source_key: 'short', source_etag: '"other"' })).toEqual([
    412,
    'precondition failed',
  ]);
  expect(await refused({ source_key: 'short', source_range: 'bytes=1-3' })).toEqual([
    400,
    'source_range: ends after the 3 bytes of the source',
  ]);
  expect(await refused({ source_key: 'short', source_range: 'bytes=2-1' })).toEqual([
    400,
    'source_range: must not end before it begins',
  ]);
  expect((await refused({ source_key: 'empty', source_range: 'bytes=0-0' }))[0]).toBe(400);
  await api.send('POST', `${partPath(upload, 1)}/copy`, {
    body: { source_bucket: 'sources', source_key: 'empty' },
  });
  expect(await api.complete(upload)).toMatchObject({ size: 0 });
});
