import { afterAll, beforeAll, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { base, pathOf, putting, tools } from '../testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['storage'] });
  api = tools(server);
  await server.db.sql`insert into plinth.relay_positions (service, consumer) values ('storage', 'test')`;
});
afterAll(() => server.close());

const putAtOnce = (bucket: string, keys: readonly string[], headers: Record<string, string> = {}) =>
  Promise.all(
    keys.map((key) =>
      server.request('PUT', base + pathOf(bucket, key), putting(`content of ${key}`, { headers })),
    ),
  );

const numbered = (count: number) => Array.from({ length: count }, (_, n) => `key-${n}`);

it('each put that shares a commit has its event, with the id of its own request', async () => {
  await api.bucket('events');
  const answers = await putAtOnce('events', numbered(30));
  const rows = await server.db.sql<{ key: string; request_id: string }[]>`
    select data->>'key' as key, request_id from storage.outbox
    where type = 'storage.object.created' and data->>'bucket' = 'events'`;
  const expected = answers.map(({ headers }, n) => [`key-${n}`, headers.get('x-request-id')]);
  expect(rows.map(({ key, request_id }) => [key, request_id]).sort()).toEqual(expected.sort());
});

it('what one put is refused for does not concern the others', async () => {
  await api.bucket('mixed');
  await putAtOnce('mixed', numbered(10));
  const answers = await putAtOnce('mixed', numbered(20), { 'if-none-match': '*' });
  expect(answers.map(({ status }) => status)).toEqual(numbered(20).map((_, n) => (n < 10 ? 412 : 201)));
  const { usage } = (await api.send('GET', '/buckets/mixed')).body as { usage: { objects: number } };
  expect(usage.objects).toBe(20);
});

it('puts of one key leave the last of them, and its size counts once', async () => {
  await api.bucket('same');
  const answers = await putAtOnce('same', Array<string>(20).fill('key'));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
  const { usage } = (await api.send('GET', '/buckets/same')).body as { usage: object };
  expect(usage).toEqual({ bytes: 'content of key'.length, objects: 1, upload_bytes: 0 });
});
