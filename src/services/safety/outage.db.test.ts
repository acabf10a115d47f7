import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type ChildServer, childServer } from '../../testing/child-server.ts';
import { childDatabase, type ChildDatabase } from '../../testing/database.ts';
import { type Proxy, proxyTo } from '../../testing/proxy.ts';
import { until } from '../../testing/until.ts';

describe.runIf(inject('engine') === 'postgres')('a database that goes away and comes back', () => {
  let db: ChildDatabase;
  let proxy: Proxy;
  let server: ChildServer;
  beforeAll(async () => {
    db = await childDatabase(['safety']);
    proxy = await proxyTo(db.url!);
    server = await childServer({ services: ['safety'], env: { ...db.env, DATABASE_URL: proxy.url } });
  }, 120_000);
  afterAll(async () => {
    await server.kill();
    await proxy.close();
    await db.remove();
  });

  it('is the documented error, and needs no restart', { timeout: 60_000 }, async () => {
    const body = { text: 'Write to me john.smith@example.com please' };
    const scan = () => server.request('POST', '/v1/scan/input', { body });
    const count = async () => (await server.request('GET', '/v1/scans/stats')).body.total_scans as number;
    expect((await scan()).status).toBe(200);
    for (const round of [1, 2]) {
      await proxy.cut();
      const answer = await scan();
      expect([answer.status, answer.body]).toEqual([
        500,
        { error: 'internal error', code: 'INTERNAL_ERROR' },
      ]);
      await proxy.restore();
      await until(async () => (await scan()).status === 200);
      expect(await count()).toBe(round + 1);
    }
  });
});
