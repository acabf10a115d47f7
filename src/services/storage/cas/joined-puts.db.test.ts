import { afterAll, beforeAll, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { base, putting } from '../testing.ts';

let server: TestServer;
beforeAll(async () => {
  server = await testServer({ services: ['storage'] });
  await server.db.sql`insert into plinth.relay_positions (service, consumer) values ('storage', 'test')`;
});
afterAll(() => server.close());

const putAtOnce = (contents: readonly string[], ref = 'one') =>
  Promise.all(contents.map((content) => server.request('PUT', `${base}/cas?ref=${ref}`, putting(content))));

const usage = async () => {
  const [row] = await server.db.sql`
    select cas_entries, cas_bytes, stored_bytes from storage.usage where bucket_id = ''`;
  return row;
};

it('each put that shares a commit has its event and counts once', async () => {
  const contents = Array.from({ length: 30 }, (_, n) => `content ${n % 20}`);
  const answers = await putAtOnce(contents);
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(20);
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(10);
  const bytes = contents.slice(0, 20).join('').length;
  expect(await usage()).toEqual({ cas_entries: 20, cas_bytes: bytes, stored_bytes: bytes });
  const [{ events }] = await server.db.sql<[{ events: number }]>`
    select count(distinct request_id)::integer as events from storage.outbox where type = 'storage.cas.stored'`;
  expect(events).toBe(20);
});

it('what one put is refused for does not concern the others', async () => {
  const [full, ...others] = ['full', 'free', 'also free'];
  await putAtOnce([full], 'first');
  await server.db.sql`update storage.cas set refs = 10000 where size = ${full.length}`;
  const answers = await putAtOnce([full, ...others], 'second');
  expect(answers.map(({ status }) => status)).toEqual([409, 201, 201]);
});

it('a quota takes those for which there is room', async () => {
  await server.db.sql`
    insert into storage.quotas (tenant_id, quota_bytes, quota_objects)
    select tenant_id, object_bytes + upload_bytes + cas_bytes + 25, 0 from storage.usage where bucket_id = ''`;
  const answers = await putAtOnce(Array.from({ length: 10 }, (_, n) => `ten bytes${n}`));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(2);
  expect(answers.filter(({ status }) => status === 413)).toHaveLength(8);
});
