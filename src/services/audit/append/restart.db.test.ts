import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { childDatabase, type ChildDatabase } from '../../../testing/database.ts';
import { type ChildServer, childServer } from '../../../testing/child-server.ts';
import { type Proxy, proxyTo } from '../../../testing/proxy.ts';
import { until } from '../../../testing/until.ts';
import { anEvent, inTenant, tools } from '../testing.ts';

describe.runIf(inject('engine') === 'postgres')('a database that goes away and comes back', () => {
  let db: ChildDatabase;
  let proxy: Proxy;
  let server: ChildServer;
  beforeAll(async () => {
    db = await childDatabase(['keys', 'audit']);
    proxy = await proxyTo(db.url!);
    const env = { PLINTH_CONTRACT: 'fast', ...db.env, DATABASE_URL: proxy.url };
    server = await childServer({ services: ['keys', 'audit'], env });
  }, 120_000);
  afterAll(async () => {
    await server.kill();
    await proxy.close();
    await db.remove();
  });

  it('loses nothing that was answered, and doubles nothing that has a key', { timeout: 90_000 }, async () => {
    const own = inTenant('restart');
    const accepted = new Map<string, string>();
    let ends = false;
    /** Repeats with the same key whatever has no answer. */
    const writer = async (name: string) => {
      for (let at = 0; !ends; at++) {
        const idempotency_key = `${name}-${at}`;
        for (;;) {
          const answer = await server.request('POST', '/audit/v1/events', {
            ...own,
            body: { ...anEvent, idempotency_key, metadata: { idempotency_key } },
          });
          if (answer.status < 300) {
            accepted.set(idempotency_key, answer.body.id as string);
            break;
          }
          expect([429, 503]).toContain(answer.status);
        }
      }
    };
    const writers = Array.from({ length: 16 }, (_, at) => writer(`w${at}`));
    for (let round = 0; round < 3; round++) {
      const enough = accepted.size + 50;
      await until(() => accepted.size >= enough);
      await proxy.cut();
      await proxy.restore();
    }
    const enough = accepted.size + 50;
    await until(() => accepted.size >= enough);
    ends = true;
    await Promise.all(writers);
    const api = tools(server);
    const report = await api.verify({}, own);
    expect(report).toMatchObject({ valid: true, verified: accepted.size, last_event: accepted.size });
    expect(new Set(accepted.values()).size).toBe(accepted.size);
  });
});
