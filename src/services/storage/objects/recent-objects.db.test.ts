import { afterAll, beforeAll, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { filesOf, pathOf, tools } from '../testing.ts';
import { type Asked, nameOfAsked, objectStore } from './objects.store.ts';
import { recentObjects } from './recent-objects.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['storage'] });
  api = tools(server);
});
afterAll(() => server.close());

/** Reads as a process that is not told of any change, and counts how often it fetches objects. */
function reader() {
  const store = objectStore(server.db.sql);
  const fetched: number[] = [];
  const findAll: typeof store.findAll = (asked) => {
    fetched.push(asked.length);
    return store.findAll(asked);
  };
  const find = recentObjects({ findAll, unchanged: (...given) => store.unchanged(...given) });
  const asked = (bucket: string, key: string, tenant = 'default'): Asked => ({ tenant, bucket, key });
  return {
    fetched,
    all: async (bucket: string, keys: readonly string[]) => {
      const names = keys.map((key) => asked(bucket, key));
      const found = await find(names);
      return names.map((name) => found.get(nameOfAsked(name)));
    },
    one: async (bucket: string, key: string, tenant?: string) => {
      const name = asked(bucket, key, tenant);
      return (await find([name])).get(nameOfAsked(name));
    },
  };
}

const textOf = (found: Awaited<ReturnType<ReturnType<typeof reader>['one']>>) =>
  found?.object === undefined ? undefined : String(Buffer.from(found.blob?.content ?? []));

it('fetches an object once, and then only those that changed', async () => {
  await api.bucket('often');
  for (const key of ['a', 'b', 'c']) await api.put('often', key, `content of ${key}`);
  const { all, fetched } = reader();
  const texts = async () => (await all('often', ['a', 'b', 'c', 'none'])).map(textOf);
  expect(await texts()).toEqual(['content of a', 'content of b', 'content of c', undefined]);
  expect(await texts()).toEqual(['content of a', 'content of b', 'content of c', undefined]);
  await api.put('often', 'b', 'other');
  expect(await texts()).toEqual(['content of a', 'other', 'content of c', undefined]);
  // The key without an object is asked for each time.
  expect(fetched).toEqual([4, 1, 2]);
});

it('sees every change at once', async () => {
  await api.bucket('changing');
  const { one } = reader();
  const found = () => one('changing', 'key');
  expect(textOf(await found())).toBeUndefined();
  await api.put('changing', 'key', 'first');
  expect(textOf(await found())).toBe('first');
  await api.put('changing', 'key', 'other');
  expect(textOf(await found())).toBe('other');
  await api.send('PATCH', pathOf('changing', 'key'), { body: { metadata: { camera: 'x100' } } });
  expect((await found())?.object?.metadata).toEqual({ camera: 'x100' });
  await api.send('PATCH', '/buckets/changing', { body: { cors_origins: ['https://app.acme.test'] } });
  expect((await found())?.bucket.cors_origins).toEqual(['https://app.acme.test']);
  await api.send('DELETE', pathOf('changing', 'key'));
  expect((await found())?.object).toBeUndefined();
  await api.put('changing', 'key', 'other');
  expect(textOf(await found())).toBe('other');
  await api.send('DELETE', '/buckets/changing?force=true');
  expect(await found()).toBeUndefined();
  await api.bucket('changing');
  expect(await found()).toMatchObject({ bucket: { name: 'changing' } });
  expect((await found())?.object).toBeUndefined();
});

it('sees that a file is damaged', async () => {
  await api.bucket('files');
  await api.put('files', 'key', Buffer.alloc(20_000, 1));
  const { one } = reader();
  expect(await filesOf(server)).toHaveLength(1);
  expect(await one('files', 'key')).toMatchObject({ blob: { is_damaged: false } });
  await server.db.sql`update storage.blobs set state = 'damaged' where content is null`;
  expect(await one('files', 'key')).toMatchObject({ blob: { is_damaged: true } });
});

it('finds nothing of another tenant', async () => {
  const { id } = await api.bucket('own');
  await api.put('own', 'key', 'content');
  const { one } = reader();
  expect(textOf(await one('own', 'key'))).toBe('content');
  expect(await one('own', 'key', 'other')).toBeUndefined();
  expect(await one(id, 'key', 'other')).toBeUndefined();
  expect(textOf(await one(id, 'key'))).toBe('content');
});
