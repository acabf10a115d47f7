import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import { testDatabase, type TestDatabase } from '../../testing/database.ts';
import { type Proxy, proxyTo } from '../../testing/proxy.ts';
import { type Database, openDatabase } from '../index.ts';
import type { Engine } from './index.ts';
import { engines, log, queries, settledAs } from './testing/queries.ts';

const settings = { leaseMs: 2_000, pollMs: 200 };

describe.runIf(inject('engine') === 'postgres')('a database that goes away and comes back', () => {
  let direct: TestDatabase;
  let proxy: Proxy;
  let db: Database;
  const { create, stop } = engines(() => db);
  const { counts, clear } = queries(() => direct);
  const runs = new Map<string, number>();
  beforeAll(async () => {
    direct = await testDatabase();
    proxy = await proxyTo(direct.options.url!);
    db = await openDatabase({ url: proxy.url, dataDir: direct.options.dataDir, log });
  });
  afterEach(async () => {
    await proxy.restore();
    await stop();
    await clear();
    runs.clear();
  });
  afterAll(async () => {
    await db.close();
    await proxy.close();
    await direct.close();
  });

  async function worker(): Promise<Engine> {
    const engine = create(settings);
    engine.handle(
      'q',
      'n',
      async ({ id }) => {
        runs.set(id, (runs.get(id) ?? 0) + 1);
        await delay(2);
      },
      { concurrency: 10 },
    );
    await engine.start();
    return engine;
  }
  const done = async () => (await counts())['completed'] ?? 0;

  test('again and again under load loses no acknowledged job, and every process works on', async () => {
    const [engine] = await Promise.all([worker(), worker()]);
    const acknowledged: string[] = [];
    let ended = false;
    const adding = (async () => {
      while (!ended) {
        const jobs = Array.from({ length: 20 }, () => ({ name: 'n', queue: 'q' }));
        const made = await engine.enqueue(jobs).catch(() => []);
        acknowledged.push(...made.map(({ id }) => id));
        await delay(5);
      }
    })();
    for (let round = 0; round < 4; round++) {
      const before = await done();
      await expect.poll(done, { timeout: 20_000 }).toBeGreaterThan(before + 100);
      if (round % 2 === 0) {
        await proxy.cut();
        await proxy.restore();
      } else
        await direct.sql`
          select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid() and application_name = 'plinth'`.catch(
          () => {},
        );
    }
    ended = true;
    await adding;
    const isDone = async () => {
      const [row] = await direct.sql<[{ count: number }]>`
        select count(*) from jobs.job_done where state = 'completed' and id = any(${acknowledged}::text[])`;
      return row.count;
    };
    await expect.poll(isDone, { timeout: 30_000 }).toBe(acknowledged.length);
    await expect.poll(async () => (await counts())['running'] ?? 0).toBe(0);
    expect(await direct.sql`select id from jobs.job join jobs.job_done using (tenant_id, id)`).toEqual([]);
  }, 90_000);

  test('for longer than a lease makes nothing run twice', async () => {
    const engine = await worker();
    await worker();
    await engine.enqueue(Array.from({ length: 600 }, () => ({ name: 'n', queue: 'q' })));
    await expect.poll(() => runs.size).toBeGreaterThan(50);
    await proxy.cut();
    const expired = async () =>
      (await direct.sql`select from jobs.lease where expires_at < now() - interval '1 second'`).length;
    await expect.poll(expired).toBe(2);
    await proxy.restore();
    await settledAs(counts, { completed: 600 });
    expect(await direct.sql`select sum(lost_count)::integer as lost from jobs.job_done`).toEqual([
      { lost: 0 },
    ]);
    expect(new Set(runs.values())).toEqual(new Set([1]));
  });
});
