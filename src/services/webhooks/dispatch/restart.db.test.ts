import { pino } from 'pino';
import { describe, expect, inject, it } from 'vitest';
import { openDatabase } from '../../../db/index.ts';
import { proxyTo } from '../../../testing/proxy.ts';
import { until } from '../../../testing/until.ts';
import { dispatching } from './testing/dispatching.ts';

describe.runIf(inject('engine') === 'postgres')('a database that goes away and comes back', () => {
  const one = dispatching();

  it('loses no delivery: the dispatcher goes on by itself', async () => {
    const proxy = await proxyTo(one.db.options.url!);
    const log = pino({ level: 'silent' });
    const db = await openDatabase({ url: proxy.url, dataDir: one.db.options.dataDir, log });
    const endpoints: string[] = [];
    for (let made = 0; made < 10; made++) {
      endpoints.push(await one.make.endpoint({ url: one.receiver.url }));
      await one.make.deliveries(endpoints.at(-1)!, 150);
    }
    const dispatcher = await one.start({ deps: { db, leaseMs: 2_000 } });
    dispatcher.hint(endpoints);
    for (let round = 1; round <= 3; round++) {
      const seen = one.receiver.received.length;
      await until(() => one.receiver.received.length > seen + 100);
      await proxy.cut();
      await proxy.restore();
    }
    await one.settled({ delivered: 1_500 }, 25_000);
    const events = new Set(one.receiver.received.map(({ headers }) => headers['webhook-id']));
    expect(events.size).toBe(1_500);
    await dispatcher.stop();
    await db.close();
    await proxy.close();
  }, 60_000);
});
