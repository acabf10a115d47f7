import { afterAll, beforeAll, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { day, inTenant, tools } from '../testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['audit', 'keys'], env: { PLINTH_AUDIT_RETENTION_INTERVAL: '1s' } });
  api = tools(server);
});
afterAll(() => server.close());

it('policies are enforced without anybody asking', async () => {
  const own = inTenant('swept');
  await api.batch([{ timestamp: day(60) }, {}], own);
  await api.send('POST', '/retention', { ...own, body: { category: 'data', duration: '720h' } });
  await expect.poll(async () => (await api.list('?category=data', own)).total, { timeout: 25_000 }).toBe(1);
  expect(await api.list('?action=retention.purged', own)).toMatchObject({ total: 1 });
  expect(await api.verify({}, own)).toMatchObject({ valid: true, purged: 1 });
});
