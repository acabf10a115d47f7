import { spawn, type ChildProcess } from 'node:child_process';
import { createServer, type AddressInfo } from 'node:net';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { startWorkers, type Start, type Worker } from '../../services/keys/validation/testing/workers.ts';
import { testDatabase, type TestDatabase } from '../../testing/database.ts';
import { proxyTo } from '../../testing/proxy.ts';
import { until } from '../../testing/until.ts';
import { openRedis } from '../redis.ts';
import type { Rate, RateStore } from './rates.ts';
import { redisRates } from './redis-rates.ts';
import { forgetIdleRates, storedRates } from './stored-rates.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {} };
let db: TestDatabase;
let redis: { url: string; client: Redis; process: ChildProcess } | undefined;
beforeAll(async () => {
  db = await testDatabase({ services: ['keys'] });
  redis = await startRedis();
});
afterAll(async () => {
  redis?.client.disconnect();
  redis?.process.kill();
  await db.close();
});

/** Starts a separate Redis if the machine has one. Otherwise its tests are reported as skipped. */
async function startRedis(): Promise<typeof redis> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  const process = spawn('redis-server', ['--port', String(port), '--save', '', '--bind', '127.0.0.1'], {
    stdio: 'ignore',
  });
  const started = await new Promise<boolean>((resolve) => {
    process.once('error', () => resolve(false));
    process.once('spawn', () => resolve(true));
  });
  if (!started) return undefined;
  const url = `redis://127.0.0.1:${port}`;
  const client = new Redis(url);
  client.on('error', () => {});
  await until(() => client.status === 'ready');
  return { url, client, process };
}

let keys = 0;
const holder = () => ({ tenant: 'acme', key: `key_${(keys += 1)}` });

describe.each(['database', 'redis'] as const)('the count in the %s', (kind) => {
  let store: RateStore;
  beforeAll(() => {
    if (kind === 'database') store = storedRates(db.sql, 'keys');
    else if (redis !== undefined) store = redisRates(redis.client, 'plinth:test:rate');
  });
  const ask = (...question: Parameters<RateStore['reserve']>) => store.reserve(...question);
  const test = (name: string, run: () => Promise<void>, retry = 0) =>
    it(name, { retry }, async ({ skip }) => {
      if (kind === 'redis' && redis === undefined) skip('no redis-server on this machine');
      await run();
    });
  const rate: Rate = { limit: 10, windowMs: 3_600_000 };

  test('grants what is left, nothing below the least that is useful, and tells how long it is good', async () => {
    const who = holder();
    const first = await ask(who, rate, 4, 1);
    expect(first).toMatchObject({ granted: 4, used: 4, waitMs: 0 });
    expect(first.leftMs).toBeGreaterThan(0);
    expect(first.leftMs).toBeLessThanOrEqual(360_000);
    expect(first.resetMs - first.leftMs).toBeCloseTo(3_600_000, 0);
    expect(await ask(who, rate, 9, 7)).toMatchObject({ granted: 0, used: 4 });
    expect(await ask(who, rate, 9, 6)).toMatchObject({ granted: 6, used: 10, waitMs: 0 });
    const refused = await ask(who, rate, 1, 1);
    expect(refused).toMatchObject({ granted: 0, used: 10 });
    expect(refused.waitMs).toBeGreaterThan(3_590_000);
    expect(refused.waitMs).toBeLessThanOrEqual(3_960_000);
    expect(await ask(who, rate, 11, 11)).toMatchObject({ granted: 0, waitMs: null });
  });

  test('is only read by a question for nothing', async () => {
    const who = holder();
    expect(await ask(who, rate, 0, 0)).toMatchObject({ granted: 0, used: 0, resetMs: 0, waitMs: 0 });
    await ask(who, rate, 3, 1);
    expect(await ask(who, rate, 0, 0)).toMatchObject({ granted: 0, used: 3 });
    expect(await ask(who, rate, 0, 0)).toMatchObject({ granted: 0, used: 3 });
  });

  test('takes back what was not spent, from the tenth it was counted in, and never more than was counted', async () => {
    const who = holder();
    const { slot } = await ask(who, rate, 10, 1);
    const rest = { ...who, subMs: 360_000, slot };
    await store.giveBack([
      { ...rest, units: 3 },
      { ...rest, units: 2 },
      { ...rest, slot: slot - 20, units: 5 },
      { ...rest, subMs: 1, units: 5 },
    ]);
    expect(await ask(who, rate, 0, 0)).toMatchObject({ used: 5 });
    await store.giveBack([{ ...rest, units: 100 }]);
    expect(await ask(who, rate, 0, 0)).toMatchObject({ used: 0 });
  });

  test('follows a changed limit at once and begins anew with a changed window', async () => {
    const who = holder();
    await ask(who, rate, 10, 1);
    expect(await ask(who, { ...rate, limit: 12 }, 5, 1)).toMatchObject({ granted: 2, used: 12 });
    expect(await ask(who, { ...rate, limit: 5 }, 1, 1)).toMatchObject({ granted: 0, used: 12 });
    expect(await ask(who, { limit: 5, windowMs: 60_000 }, 9, 1)).toMatchObject({ granted: 5, used: 5 });
  });

  // A machine that stands still for most of a window lets the first unit go before the second one is counted.
  test('lets units go one by one, eleven tenths after each was counted', async () => {
    const who = holder();
    const short: Rate = { limit: 2, windowMs: 1_000 };
    const first = await ask(who, short, 1, 1);
    await until(async () => (await ask(who, short, 0, 0)).slot > first.slot + 2);
    const second = await ask(who, short, 1, 1);
    const began = performance.now();
    const refused = await ask(who, short, 1, 1);
    expect(refused.granted).toBe(0);
    await until(async () => (await ask(who, short, 1, 1)).granted === 1);
    // The clock of the embedded database shows whole milliseconds, so it may be one behind when the wait is computed.
    expect(performance.now() - began + 1).toBeGreaterThanOrEqual(refused.waitMs ?? Infinity);
    expect(await ask(who, short, 0, 0)).toMatchObject({ used: 2 });
    expect(second.slot - first.slot).toBeGreaterThanOrEqual(3);
  }, 3);
});

describe('a clock of the database that goes back', () => {
  it('frees nothing early: counts keep their age', async () => {
    const who = holder();
    const rate: Rate = { limit: 10, windowMs: 60_000 };
    const store = storedRates(db.sql, 'keys');
    await store.reserve(who, rate, 10, 1);
    // Seen from a later clock, these units were counted an hour ahead of it.
    await db.sql`update keys.rate_windows set slot = slot + 600 where key_id = ${who.key}`;
    const refused = await store.reserve(who, rate, 1, 1);
    expect(refused).toMatchObject({ granted: 0, used: 10 });
    expect(refused.waitMs).toBeGreaterThan(54_000);
    expect(refused.waitMs).toBeLessThanOrEqual(66_000);
  });
});

it('counts of which nothing counts any more are deleted in batches, and no others', async () => {
  const holders = Array.from({ length: 6 }, holder);
  const [active, ...idle] = holders.map(({ key }) => key);
  const store = storedRates(db.sql, 'keys');
  for (const who of holders) await store.reserve(who, { limit: 10, windowMs: 60_000 }, 1, 1);
  await db.sql`update keys.rate_windows set slot = slot - 22 where key_id = any(${idle})`;
  const left = () =>
    db.sql<{ key_id: string }[]>`
      select key_id from keys.rate_windows where key_id = any(${[active!, ...idle]}) order by key_id`;
  expect(await forgetIdleRates(db.sql, 'keys', 2)).toBe(2);
  while ((await forgetIdleRates(db.sql, 'keys', 2)) === 2);
  expect(await left()).toEqual([{ key_id: active }]);
});

it('a Redis that does not answer is an error after the time that it is given', async ({ skip }) => {
  if (redis === undefined) return skip('no redis-server on this machine');
  const proxy = await proxyTo(redis.url);
  const client = openRedis(proxy.url, silent, 100);
  try {
    await until(() => client.status === 'ready');
    const store = redisRates(client, 'plinth:test:rate');
    proxy.freeze();
    const who = holder();
    const unavailable = { kind: 'unavailable', message: 'rate counter unavailable' };
    await expect(store.reserve(who, { limit: 1, windowMs: 1_000 }, 1, 1)).rejects.toMatchObject(unavailable);
    await expect(store.giveBack([{ ...who, subMs: 100, slot: 1, units: 1 }])).rejects.toMatchObject(
      unavailable,
    );
  } finally {
    client.disconnect();
    await proxy.close();
  }
});

describe.skipIf(inject('engine') === 'pglite')('over four processes', { timeout: 60_000 }, () => {
  const workers: Worker[] = [];
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.close()));
  });

  /** Starts processes and collects the time at which each unit was admitted, on the machine's monotonic clock. */
  async function start(options: Partial<Pick<Start, 'clockOffsetMs' | 'redisUrl'>>[]) {
    const started = await startWorkers(options.map((each) => ({ ...db.options, clockOffsetMs: 0, ...each })));
    workers.push(...started);
    const admitted = new Map<string, number[]>();
    for (const worker of started) {
      worker.onMessage((message: { admitted?: Record<string, number[]> }) => {
        for (const [key, times] of Object.entries(message.admitted ?? {})) {
          admitted.set(key, [...(admitted.get(key) ?? []), ...times]);
        }
      });
    }
    const times = (key: string) => (admitted.get(key) ?? []).toSorted((a, b) => a - b);
    return { workers: started, times };
  }

  /** Returns the most units admitted in any interval of the window, over all admissions at or after `since`. */
  function worst(times: readonly number[], windowMs: number, since = 0): number {
    const later = times.filter((time) => time >= since);
    let most = 0;
    for (let first = 0, last = 0; last < later.length; last++) {
      while ((later[last] ?? 0) - (later[first] ?? 0) >= windowMs) first += 1;
      most = Math.max(most, last - first + 1);
    }
    return most;
  }

  const windowMs = 1_500;
  const limits = [1, 10, 100, 10_000];
  const rates = Object.fromEntries(limits.map((limit) => [`limit_${limit}`, { limit, windowMs }]));
  /** Long enough for the units of three rounds, since they count for eleven tenths of the window. */
  const ms = 2 * 1.1 * windowMs + 1_500;

  it.each([
    ['the database', () => [{}, {}, { clockOffsetMs: 3_600_000 }, {}]],
    ['Redis', () => [1, 2, 3, 4].map(() => ({ redisUrl: redis?.url }))],
  ])(
    'no rolling window is above the limit and 90 % of it is admitted, whatever one wall clock says: %s',
    async (where, options) => {
      if (where === 'Redis' && redis === undefined) return; // The test of the Redis count reports it as skipped.
      const { workers, times } = await start(options());
      await Promise.all(workers.map((worker) => worker.call('setRates', rates)));
      await Promise.all(workers.map((worker) => worker.call('spend', { loops: 16, ms, cost: 1 })));
      for (const limit of limits) {
        const admissions = times(`limit_${limit}`);
        expect(worst(admissions, windowMs), `limit ${limit}`).toBeLessThanOrEqual(limit);
        expect(admissions.length, `limit ${limit}`).toBeGreaterThanOrEqual(Math.floor(3 * limit * 0.9));
      }
    },
  );

  it('the bound holds when a process with leases is killed', async () => {
    const { workers, times } = await start([{}, {}, {}, {}]);
    const killed = { kill_200: { limit: 200, windowMs }, kill_2000: { limit: 2_000, windowMs } };
    await Promise.all(workers.map((worker) => worker.call('setRates', killed)));
    const spending = workers.map((worker) => worker.call('spend', { loops: 64, ms, cost: 1 }));
    const outcome = Promise.allSettled(spending);
    await until(() => times('kill_200').length > 20);
    await workers[1]?.kill();
    await outcome;
    for (const [key, { limit }] of Object.entries(killed)) {
      expect(worst(times(key), windowMs), key).toBeLessThanOrEqual(limit);
      expect(times(key).length, key).toBeGreaterThanOrEqual(limit * 2);
    }
  });

  it('a limit and a window that change meanwhile are kept, the new ones from the change on', async () => {
    const { workers, times } = await start([{}, {}, {}, {}]);
    const set = (next: Record<string, Rate>) =>
      Promise.all(workers.map((worker) => worker.call('setRates', next)));
    await set({ lowered: { limit: 50, windowMs: 1_000 }, widened: { limit: 20, windowMs: 1_000 } });
    const spending = Promise.all(
      workers.map((worker) => worker.call('spend', { loops: 16, ms: 5_000, cost: 1 })),
    );
    await until(() => times('lowered').length >= 50 && times('widened').length >= 20);
    await set({ lowered: { limit: 20, windowMs: 1_000 }, widened: { limit: 20, windowMs: 2_000 } });
    const changed = Number(process.hrtime.bigint()) / 1e6;
    await spending;
    expect(worst(times('lowered'), 1_000)).toBeLessThanOrEqual(50);
    expect(worst(times('lowered'), 1_000, changed)).toBeLessThanOrEqual(20);
    expect(times('lowered').filter((time) => time >= changed).length).toBeGreaterThanOrEqual(20);
    expect(worst(times('widened'), 2_000, changed)).toBeLessThanOrEqual(20);
    expect(times('widened').filter((time) => time >= changed).length).toBeGreaterThanOrEqual(20);
  });
});
