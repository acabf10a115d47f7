import { afterAll, beforeAll, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../testing/server.ts';
import { pluck, question, tools } from './testing.ts';

let server: TestServer;
beforeAll(async () => {
  server = await testServer({ services: ['authz'] });
});
afterAll(() => server.close());

it('answers other tenants while the largest questions of one are decided', async () => {
  const [busy, other] = [tools(server), tools(server)];
  await other.relation('document:1#viewer@user:a');
  await other.check('user:a', 'viewer', 'document:1');
  for (let n = 0; n < 60; n++) {
    const subjects = Array.from(
      { length: 100 },
      (_, at) => `user:*${'a'.repeat(40)}*${'a'.repeat(80)}b${n}-${at}*${'a'.repeat(20)}`,
    );
    await busy.policy({
      ...{ name: `Policy ${n}`, effect: 'deny', actions: ['*'], resources: ['*'], subjects },
    });
  }
  const checks = Array.from({ length: 200 }, (_, n) => ({
    ...question('user:', 'viewer', 'document:1'),
    subject_id: `b${'a'.repeat(900)}${n}${'a'.repeat(30)}`,
  }));
  await busy.check('user:a', 'viewer', 'document:1');
  let isDone = false;
  const batches = Promise.all(
    Array.from({ length: 4 }, () => busy.request('POST', '/authz/batch-check', { body: { checks } })),
  ).finally(() => (isDone = true));
  let answered = 0;
  for (; !isDone; answered++)
    expect((await other.check('user:a', 'viewer', 'document:1')).allowed).toBe(true);
  const results = (await batches).flatMap(({ body }) => pluck(body.results, 'allowed'));
  expect(results).toEqual(Array.from({ length: 800 }, () => false));
  expect(answered).toBeGreaterThan(10);
}, 60_000);
