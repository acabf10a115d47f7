import { afterAll, beforeAll, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { until } from '../../../testing/until.ts';
import { day, inTenant, tools } from '../testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['audit', 'keys'] });
  api = tools(server);
});
afterAll(() => server.close());

it('policies are enforced without anybody asking', async () => {
  const own = inTenant('swept');
  await api.batch([{ timestamp: day(60) }, {}], own);
  await api.send('POST', '/retention', { ...own, body: { category: 'data', duration: '720h' } });
  // The next run would be a day away; a process that starts finds it due.
  await until(async () => {
    const { count } = await server.db
      .sql`update jobs.sweep set due_at = now() where name = 'audit.retention' and lease_id is null`;
    return count === 1;
  });
  await server.restart();
  await expect.poll(async () => (await api.list('?category=data', own)).total, { timeout: 25_000 }).toBe(1);
  expect(await api.list('?action=retention.purged', own)).toMatchObject({ total: 1 });
  expect(await api.verify({}, own)).toMatchObject({ valid: true, purged: 1 });
});
