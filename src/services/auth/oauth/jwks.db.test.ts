import { expect, inject, test } from 'vitest';
import { testDatabase } from '../../../testing/database.ts';
import { proxyTo } from '../../../testing/proxy.ts';
import { childServer } from '../../../testing/server.ts';

test.runIf(inject('engine') === 'postgres')(
  'the keys that verify tokens are answered while the database is away',
  async () => {
    const db = await testDatabase({ services: ['auth'] });
    const proxy = await proxyTo(db.options.url!);
    const env = {
      DATABASE_URL: proxy.url,
      PLINTH_DATA_DIR: db.options.dataDir,
      PLINTH_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    };
    const server = await childServer({ services: ['auth'], env });
    const keys = () => server.request('GET', '/v1/auth/.well-known/jwks.json', { token: null });
    const before = await keys();
    expect((before.body as { keys: unknown[] }).keys.length).toBeGreaterThan(1);
    await proxy.cut();
    await expect.poll(async () => (await server.request('GET', '/readyz')).status).toBe(503);
    // The cache is valid only for a moment; after that the database would be queried.
    const failedReads = () => server.stdout().split('changes could not be read').length - 1;
    await expect.poll(failedReads, { timeout: 30_000 }).toBeGreaterThan(3);
    expect(await keys()).toMatchObject({ status: 200, body: before.body });
    await server.kill('SIGKILL');
    await proxy.close();
    await db.close();
  },
  60_000,
);
