/** Tests what changes an upload at the same time, in every order. A transaction of the test holds the upload until both wait for it. */
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { Upload } from '../../../../generated/storage/types.ts';
import { createPool, type Sql } from '../../../db/sql.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { until } from '../../../testing/until.ts';
import { putting, tools } from '../testing.ts';
import { named, partPath, uploadPath, uploadTools } from './testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools> & ReturnType<typeof uploadTools>;
beforeAll(async () => {
  server = await testServer({
    services: ['storage'],
    env: { PLINTH_STORAGE_FSYNC: 'off', PLINTH_JOBS_ENGINE: 'off' },
  });
  api = { ...tools(server), ...uploadTools(tools(server)) };
  await api.bucket('films');
});
afterAll(() => server.close());

type Outcome = Promise<[status: number, body: string]>;
const answer = async (method: string, path: string, options: object = {}): Outcome => {
  const { status, text } = await server.request(method, `/storage/store/v1${path}`, options);
  return [status, text];
};
/** How many statements wait for a lock. The question goes over a connection that no request uses. */
const waiting = async () => {
  const [{ count }] = await server.db.background<[{ count: number }]>`
    select count(*) as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  return count;
};

/** Runs a transaction over a connection of its own, so that all those of the server are left to the requests. */
async function apart(fn: (sql: Sql) => Promise<void>): Promise<void> {
  const pool = createPool({ max: 1, fetch_types: false }, server.db.url);
  await pool.begin((sql) => fn(sql)).finally(() => pool.end());
}

/** Lets the requests reach the upload in this order, while the test holds it. */
async function inOrder({ id }: Upload, ...requests: (() => Outcome)[]): Promise<[number, string][]> {
  const answers: Outcome[] = [];
  await apart(async (sql) => {
    await sql`select from storage.uploads where id = ${id} for update`;
    for (const request of requests) {
      answers.push(request());
      await until(async () => (await waiting()) === answers.length);
    }
  });
  return await Promise.all(answers);
}

const read = async (key: string) => (await api.bytes('films', key)).toString();
const refused = (status: number, error: string): [number, string] => [
  status,
  JSON.stringify({ error, code: status }),
];

// On the embedded database a transaction has no other beside it.
describe.runIf(inject('engine') === 'postgres')('a completion', () => {
  let made = 0;
  async function begun() {
    const upload = await api.begin('films', `race-${++made}`);
    const parts = [await api.part(upload, 1, 'one '), await api.part(upload, 2, 'two')];
    const complete = () => answer('POST', `${uploadPath(upload)}/complete`, { body: named(...parts) });
    const retry = () => answer('PUT', partPath(upload, 2), putting('TWO'));
    const add = () => answer('PUT', partPath(upload, 3), putting(' three'));
    const abort = () => answer('DELETE', uploadPath(upload));
    return { upload, parts, complete, retry, add, abort };
  }

  test('refuses a part that was changed before it', async () => {
    const { upload, complete, retry } = await begun();
    const [part, completed] = await inOrder(upload, retry, complete);
    expect(part![0]).toBe(200);
    expect(completed).toEqual(refused(400, 'part 2 has another etag'));
    expect((await api.get(upload)).status).toBe('active');
  });

  test('refuses a list without a part that came before it', async () => {
    const { upload, complete, add } = await begun();
    const [part, completed] = await inOrder(upload, add, complete);
    expect(part![0]).toBe(200);
    expect(completed).toEqual(refused(400, 'part 3 was uploaded but not listed'));
  });

  test('makes parts that come after it conflicts', async () => {
    const { upload, complete, retry, add } = await begun();
    const [completed, changed, added] = await inOrder(upload, complete, retry, add);
    expect(completed![0]).toBe(200);
    for (const part of [changed, added]) expect(part).toEqual(refused(409, 'upload is completed'));
    expect(await read(upload.key)).toBe('one two');
    expect((await api.send('GET', '/admin/stats')).body.upload_bytes).toBeGreaterThanOrEqual(0);
  });

  test('has the same answer as another one at the same time', async () => {
    const { upload, complete } = await begun();
    const [first, second] = await inOrder(upload, complete, complete);
    expect(first![0]).toBe(200);
    expect(second).toEqual(first);
  });

  test('comes before or after an abortion as a whole', async () => {
    const before = await begun();
    const [completed, late] = await inOrder(before.upload, before.complete, before.abort);
    expect([completed![0], late]).toEqual([200, refused(409, 'upload is completed')]);
    expect(await read(before.upload.key)).toBe('one two');
    const after = await begun();
    const [aborted, refusedOne] = await inOrder(after.upload, after.abort, after.complete);
    expect([aborted![0], refusedOne]).toEqual([204, refused(409, 'upload is aborted')]);
    expect(await api.refusal('GET', `/buckets/films/objects/${after.upload.key}`)).toEqual([
      404,
      'object not found',
    ]);
  });

  test('of an upload that expires meanwhile is refused, and one that is under way is not expired', async () => {
    const { upload, complete } = await begun();
    const expire = (sql: TestServer['db']['sql']) => sql`
      select storage.expire_uploads(1000, '{}', array['evt_1', 'evt_2']) as expired`;
    let answered: Outcome | undefined;
    await apart(async (sql) => {
      await sql`update storage.uploads set expires_at = now() - interval '1 second' where id = ${upload.id}`;
      answered = complete();
      await until(async () => (await waiting()) === 1);
      expect(await expire(sql)).toMatchObject([{ expired: 1 }]);
    });
    expect(await answered).toEqual(refused(409, 'upload is expired'));

    const other = await begun();
    await server.db
      .sql`update storage.uploads set expires_at = now() - interval '1 second' where id = ${other.upload.id}`;
    await apart(async (sql) => {
      await sql`select from storage.uploads where id = ${other.upload.id} for update`;
      expect(await expire(server.db.sql)).toMatchObject([{ expired: 0 }]);
    });
  });
});

describe.runIf(inject('engine') === 'postgres')('a bucket that is deleted by force', () => {
  test('takes no parts, aborts nothing and completes nothing for requests that found it before', async () => {
    for (const [method, path, options] of [
      ['PUT', '/parts/2', putting('two')],
      ['POST', '/complete', {}],
      ['DELETE', '', {}],
    ] as const) {
      await api.bucket('doomed');
      const upload = await api.begin('doomed', 'film');
      await api.part(upload, 1, 'one');
      let answered: Outcome | undefined;
      await apart(async (sql) => {
        await sql`select from storage.uploads where id = ${upload.id} for update`;
        answered = answer(method, uploadPath(upload) + path, options);
        await until(async () => (await waiting()) === 1);
        await api.send('DELETE', '/buckets/doomed?force=true');
      });
      expect(await answered).toEqual(refused(404, 'bucket not found'));
    }
  });

  test('deletes no objects for requests that found it before', async () => {
    const bucket = await api.bucket('doomed');
    await api.put('doomed', 'cat.jpg', 'a cat');
    let answered: Outcome | undefined;
    await apart(async (sql) => {
      await sql`update storage.buckets set name = null where id = ${bucket.id}`;
      answered = answer('DELETE', '/buckets/doomed/objects/cat.jpg');
      await until(async () => (await waiting()) === 1);
    });
    expect(await answered).toEqual(refused(404, 'bucket not found'));
  });
});

test('many parts at once are all counted', async () => {
  const upload = await api.begin('films', 'parallel');
  const numbers = Array.from({ length: 40 }, (_, place) => (place % 20) + 1);
  await Promise.all(numbers.map((number) => api.part(upload, number, `part ${number};`)));
  const shown = await api.get(upload);
  expect(shown.uploaded_parts).toBe(20);
  expect(shown.uploaded_bytes).toBe(shown.parts!.reduce((sum, { size }) => sum + size, 0));
  await api.complete(upload, { size: shown.uploaded_bytes });
  expect(await read('parallel')).toBe(
    Array.from({ length: 20 }, (_, place) => `part ${place + 1};`).join(''),
  );
});
