import { describe, expect, inject, it } from 'vitest';
import { onThisMachine } from '../../../testing/processor-time.ts';
import { until } from '../../../testing/until.ts';
import { dispatching } from './testing/dispatching.ts';
import { dispatchProcesses } from './testing/processes.ts';
import type { Received } from './testing/receiver.ts';

describe.runIf(inject('engine') === 'postgres')('several processes', () => {
  const one = dispatching();
  const start = dispatchProcesses(() => one.db);

  /** Which events arrived how often. */
  const arrivals = (received: readonly Received[]) => {
    const times = new Map<string, number>();
    for (const { headers } of received)
      times.set(headers['webhook-id']!, (times.get(headers['webhook-id']!) ?? 0) + 1);
    return times;
  };
  /** Endpoints of ten tenants, because those of one would have to wait for each other while they are new. */
  const endpointsWith = async (count: number, each: number) => {
    for (let made = 0; made < count; made++) {
      const tenant_id = `tenant-${made % 10}`;
      await one.make.deliveries(await one.make.endpoint({ url: one.receiver.url, tenant_id }), each);
    }
  };

  it('what a killed process had in flight is sent again by another, under the same ids, within seven seconds', async () => {
    one.receiver.answer(() => {});
    await endpointsWith(500, 1);
    const killed = await start(5_000);
    await until(() => one.receiver.received.length === 500);
    const other = await start(5_000);
    one.receiver.answer(() => 200);
    await killed.kill();
    const began = performance.now();
    await one.settled({ delivered: 500 }, 50_000);
    expect(performance.now() - began).toBeLessThan(onThisMachine(8_000));
    const times = arrivals(one.receiver.received);
    expect(times.size).toBe(500);
    expect(new Set(times.values())).toEqual(new Set([2]));
    expect(await one.db.sql`select distinct attempt_count from webhooks.delivery_done`).toEqual([
      { attempt_count: 1 },
    ]);
    await other.close();
  });

  it('nothing is lost, whatever is killed', async () => {
    await endpointsWith(10, 150);
    const survivor = await start(2_000);
    for (let round = 1; round <= 4; round++) {
      const victim = await start(2_000);
      const seen = one.receiver.received.length;
      await until(() => one.receiver.received.length > seen + 50 || one.receiver.received.length >= 1_500);
      await victim.kill();
    }
    await one.settled({ delivered: 1_500 }, 20_000);
    expect(arrivals(one.receiver.received).size).toBe(1_500);
    await survivor.close();
  });

  it('a process that was stopped for too long is fenced: its late result changes nothing', async () => {
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    one.receiver.answer((_, response) => void released.then(() => response.writeHead(500).end()));
    await endpointsWith(1, 1);
    const stopped = await start(2_000);
    await until(() => one.receiver.received.length === 1);
    stopped.signal('SIGSTOP');
    one.receiver.answer(() => 200);
    const other = await start(2_000);
    await one.settled({ delivered: 1 });
    release();
    stopped.signal('SIGCONT');
    // It works again, under another lease.
    await other.close();
    await endpointsWith(1, 1);
    await one.settled({ delivered: 2 });
    expect(await one.db.sql`select attempt, outcome from webhooks.attempt`).toEqual([
      { attempt: 1, outcome: 'delivered' },
      { attempt: 1, outcome: 'delivered' },
    ]);
    expect(await one.db.sql`select distinct consecutive_failures from webhooks.lane`).toEqual([
      { consecutive_failures: 0 },
    ]);
  });

  it('no delivery is sent twice while all of them live', async () => {
    await endpointsWith(20, 40);
    await Promise.all([start(5_000), start(5_000), start(5_000)]);
    await one.settled({ delivered: 800 }, 20_000);
    expect(one.receiver.received).toHaveLength(800);
  });

  it('a process that ends gives back what it cannot finish', async () => {
    one.receiver.answer(() => {});
    await endpointsWith(1, 1);
    const first = await start(60_000);
    await until(() => one.receiver.received.length === 1);
    one.receiver.answer(() => 200);
    const other = await start(60_000);
    await first.close();
    await one.settled({ delivered: 1 });
    await other.close();
  });
});

describe.runIf(inject('engine') === 'pglite')('an embedded database', () => {
  const one = dispatching();

  it('goes on with what was in flight when its process was killed', async () => {
    const endpoint = await one.make.endpoint({ url: one.receiver.url });
    await one.make.deliveries(endpoint, 3);
    await one.db.sql`update webhooks.delivery set state = 'delivering', lease_id = 'lease_gone', turn = 1`;
    await one.start();
    await one.settled({ delivered: 3 });
  });
});
