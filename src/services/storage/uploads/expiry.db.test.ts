import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Upload } from '../../../../generated/storage/types.ts';
import { runSweep } from '../../../db/sweeps.ts';
import { readSettings } from '../../../lib/settings.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { settings } from '../settings.ts';
import { putting, tools } from '../testing.ts';
import { uploadSweep } from './sweeps.ts';
import { partPath, uploadPath, uploadTools } from './testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools> & ReturnType<typeof uploadTools>;
beforeAll(async () => {
  // Without the engine of the background jobs, sweeps run only when a test says so.
  server = await testServer({
    services: ['storage'],
    env: { PLINTH_STORAGE_FSYNC: 'off', PLINTH_JOBS_ENGINE: 'off' },
  });
  api = { ...tools(server), ...uploadTools(tools(server)) };
  await api.bucket('films');
});
afterAll(() => server.close());

const sweep = () => runSweep(uploadSweep({ db: server.db, settings: readSettings(settings, {}) }));
const age = async ({ id }: Upload, hours: number) =>
  await server.db.sql`
    update storage.uploads set expires_at = expires_at - ${hours} * interval '1 hour', ended_at = ended_at - ${hours} * interval '1 hour'
    where id = ${id}`;
const usage = async () => (await api.send('GET', '/buckets/films')).body.usage as unknown;
const events = async (key: string) => {
  const rows = await server.db.sql<{ type: string; actor: string }[]>`
    select type, actor from storage.outbox where subject = ${`films/${key}`} order by time, id`;
  return rows.map(({ type, actor }) => `${type} by ${actor}`);
};

it('an expired upload is refused before the sweep, which gives its room back and tells of it', async () => {
  const upload = await api.begin('films', 'late', { expires_in: '1h' });
  await api.part(upload, 1, randomBytes(300_000));
  await age(upload, 2);
  expect(await api.get(upload)).toMatchObject({ status: 'expired', uploaded_bytes: 300_000 });
  const ended = [409, 'upload is expired'];
  expect(await api.refusal('PUT', partPath(upload, 1), putting('a'))).toEqual(ended);
  expect(await api.refusal('POST', `${uploadPath(upload)}/complete`)).toEqual(ended);
  await api.abort(upload);
  expect((await api.get(upload)).status).toBe('expired');
  expect(await usage()).toEqual({ bytes: 0, objects: 0, upload_bytes: 300_000 });
  await sweep();
  expect(await usage()).toEqual({ bytes: 0, objects: 0, upload_bytes: 0 });
  expect(await api.get(upload)).toMatchObject({ status: 'expired', uploaded_bytes: 0, parts: [] });
  const [garbage] = await server.db.sql`select from storage.garbage`;
  expect(garbage).toBeDefined();
  expect(await events('late')).toEqual([
    'storage.upload.created by root',
    'storage.upload.expired by system',
  ]);
});

it('an expired upload in a deleted bucket keeps no other from expiring', async () => {
  await api.bucket('left');
  const left = await api.begin('left', 'late', { expires_in: '1h' });
  const other = await api.begin('films', 'later', { expires_in: '1h' });
  await api.part(left, 1, 'part');
  await age(left, 3);
  await age(other, 2);
  await api.send('DELETE', '/buckets/left');
  await sweep();
  expect((await events('later')).at(-1)).toBe('storage.upload.expired by system');
});

it('many uploads in several buckets expire in one sweep', async () => {
  for (const bucket of ['one', 'two']) await api.bucket(bucket);
  const made: Upload[] = [];
  for (let number = 0; number < 6; number++)
    made.push(await api.begin(number % 2 ? 'one' : 'two', `many/${number}`));
  for (const upload of made.slice(1)) await age(upload, 170);
  await sweep();
  const statuses = await Promise.all(made.map(async (upload) => (await api.get(upload)).status));
  expect(statuses).toEqual(['pending', ...Array<string>(5).fill('expired')]);
});

it('the record of an upload goes a day after its end', async () => {
  const [aborted, completed, young] = [
    await api.begin('films', 'aborted'),
    await api.begin('films', 'completed'),
    await api.begin('films', 'young'),
  ];
  await api.part(completed, 1, 'abc');
  await api.complete(completed);
  for (const upload of [aborted, young]) await api.abort(upload);
  for (const upload of [aborted, completed]) await age(upload, 25);
  const gone = [404, 'upload not found'];
  for (const upload of [aborted, completed]) {
    expect(await api.refusal('GET', uploadPath(upload))).toEqual(gone);
    expect(await api.refusal('DELETE', uploadPath(upload))).toEqual(gone);
    expect(await api.refusal('POST', `${uploadPath(upload)}/complete`)).toEqual(gone);
  }
  await sweep();
  const ids = [aborted, completed, young].map(({ id }) => id);
  const rows = await server.db.sql<
    { id: string }[]
  >`select id from storage.uploads where id = any(${ids}::text[])`;
  expect(rows.map(({ id }) => id)).toEqual([young.id]);
  expect((await api.bytes('films', 'completed')).toString()).toBe('abc');
});

it('each change of an upload is told once', async () => {
  const upload = await api.begin('films', 'told');
  await api.part(upload, 1, 'abc');
  await api.complete(upload);
  await api.complete(upload);
  expect((await events('told')).sort()).toEqual([
    'storage.object.created by root',
    'storage.upload.completed by root',
    'storage.upload.created by root',
  ]);
  await api.bucket('silent', { events: false });
  const untold = await api.begin('silent', 'a');
  await api.abort(untold);
  const [{ count }] = await server.db.sql<[{ count: number }]>`
    select count(*) as count from storage.outbox where subject = 'silent/a'`;
  expect(count).toBe(0);
});
