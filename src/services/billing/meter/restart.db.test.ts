import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type ChildServer, childServer } from '../../../testing/child-server.ts';
import { childDatabase, type ChildDatabase } from '../../../testing/database.ts';
import { type Proxy, proxyTo } from '../../../testing/proxy.ts';
import { until } from '../../../testing/until.ts';
import { subscribed, sumsOf, within } from './testing.ts';

describe.runIf(inject('engine') === 'postgres')('a database that goes away and comes back', () => {
  const services = ['keys', 'billing'];
  let db: ChildDatabase;
  let proxy: Proxy;
  let server: ChildServer;
  beforeAll(async () => {
    db = await childDatabase(services);
    await within(db, (sql) => subscribed(sql, { tenant: 'restart', at: Date.now() - 86_400_000 }));
    proxy = await proxyTo(db.url!);
    server = await childServer({
      services,
      env: { PLINTH_CONTRACT: 'fast', ...db.env, DATABASE_URL: proxy.url },
    });
  }, 120_000);
  afterAll(async () => {
    await server.kill();
    await proxy.close();
    await db.remove();
  });

  it(
    'loses nothing that was answered, and doubles nothing, with a key or without',
    { timeout: 90_000 },
    async () => {
      const accepted = new Set<string>();
      let ends = false;
      const writer = async (name: string) => {
        for (let at = 0; !ends; at++) {
          const key = at % 2 === 0 ? { idempotency_key: `${name}-${at}` } : {};
          const { status, body } = await server.request('POST', '/billing/billing/meter/events', {
            tenant: 'restart',
            body: { feature_key: 'calls', ...key },
          });
          // A request whose credential cannot be looked up is refused before it is taken.
          if (status === 202) accepted.add(body.id as string);
          else expect([429, 500]).toContain(status);
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
      const count = accepted.size;
      await within(db, async (sql) => {
        const sum = { quantity: String(count), count };
        expect(await sumsOf(sql, 'restart')).toEqual({ events: sum, totals: sum, days: sum });
      });
    },
  );
});
