import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { testDatabase, type TestDatabase } from '../../testing/database.ts';
import { type Claim, claim, claimLimited, type ClaimRequest } from './claim.store.ts';
import { createEnqueue, type Enqueue } from './enqueue.ts';
import { jobStore } from './jobs.store.ts';

let db: TestDatabase;
let enqueue: Enqueue['enqueue'];
beforeAll(async () => {
  db = await testDatabase();
  ({ enqueue } = createEnqueue({ db, maxPayload: 65_536, hint: () => {} }));
});
beforeEach(() => db.sql`truncate jobs.job, jobs.queue`);
afterAll(() => db.close());

const request = { queue: 'q', leaseId: 'lease_a', count: 1, cursor: new Map() };
const take = (more: Partial<ClaimRequest> = {}) => claim(db.sql, { ...request, ...more });
const takeLimited = (more: Partial<ClaimRequest> = {}) =>
  db.transaction((sql) => claimLimited(sql, { ...request, ...more }));
const names = ({ jobs }: Claim) => jobs.map(({ name }) => name);
const add = (name: string, more: object = {}) => enqueue([{ name, queue: 'q', tenant: 't', ...more }]);
const limit = (limits: object, app = 'default') =>
  db.sql`insert into jobs.queue ${db.sql({ name: 'q', app_id: app, ...limits })}`;

test('a claimed job runs under the lease and counts an attempt', async () => {
  await add('mail', { payload: { to: 'ada' }, timeout: '90s' });
  const { jobs, limited } = await take();
  expect(limited).toBe(false);
  expect(jobs).toMatchObject([
    {
      name: 'mail',
      queue: 'q',
      tenant_id: 't',
      payload: { to: 'ada' },
      attempt: 1,
      turn: 1,
      lease_id: 'lease_a',
      timeout_ms: 90_000,
    },
  ]);
  expect(await db.sql`select state, lease_id, started_at is not null as started from jobs.job`).toEqual([
    { state: 'running', lease_id: 'lease_a', started: true },
  ]);
  expect(await take()).toMatchObject({ jobs: [], more: false, waitMs: null });
});

test('higher priorities come first, then what has been due longest, then the order of calls', async () => {
  await add('c');
  await add('d');
  await add('b', { run_at: '2026-01-01T00:00:00Z' });
  await db.sql`update jobs.job set run_at = run_at - interval '1 hour' where name = 'b'`;
  await add('a', { priority: 1 });
  await add('e', { priority: -1 });
  await enqueue(['f', 'g', 'h'].map((name) => ({ name, queue: 'q', tenant: 't', priority: -1 })));
  expect(names(await take({ count: 10 }))).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']);
});

test('tenants take turns, whatever one of them has waiting', async () => {
  await enqueue(Array.from({ length: 200 }, (_, n) => ({ name: `big${n}`, queue: 'q', tenant: 'big' })));
  await add('small1', { tenant: 'small' });
  await add('small2', { tenant: 'small' });
  const order: string[] = [];
  let cursor: Claim['cursor'] = new Map();
  for (let turn = 0; turn < 5; turn++) {
    const claimed = await take({ cursor });
    order.push(...names(claimed));
    cursor = claimed.cursor;
  }
  expect(order).toEqual(['big0', 'small1', 'big1', 'small2', 'big2']);
  const many = await take({ cursor, count: 50 });
  expect(many.jobs).toHaveLength(50);
});

test('a new tenant among many is served within ceil(tenants / 64) + 1 claims', async () => {
  const tenants = Array.from({ length: 300 }, (_, n) => `t${String(n).padStart(3, '0')}`);
  for (let from = 0; from < 300; from += 100)
    await enqueue(
      tenants
        .slice(from, from + 100)
        .flatMap((tenant) => Array.from({ length: 5 }, () => ({ name: 'n', queue: 'q', tenant }))),
    );
  let { cursor } = await take({ count: 64 });
  await add('new', { tenant: 't010x' });
  let claims = 0;
  for (let found = false; !found; claims++) {
    const claimed = await take({ count: 64, cursor });
    cursor = claimed.cursor;
    found = names(claimed).includes('new');
  }
  expect(claims).toBeLessThanOrEqual(Math.ceil(300 / 64) + 1);
});

test('lanes without due jobs are passed over, and the first due time is told', async () => {
  const far = Array.from({ length: 500 }, (_, n) => ({
    name: 'far',
    queue: 'q',
    tenant: `a${n}`,
    delay: '1h',
  }));
  await enqueue(far);
  await add('soon', { tenant: 'b', delay: '60s' });
  const none = await take({ count: 5 });
  expect(none).toMatchObject({ jobs: [], more: false });
  expect(none.waitMs).toBeGreaterThan(50_000);
  expect(none.waitMs).toBeLessThanOrEqual(60_000);
  await add('now', { tenant: 'z' });
  expect(names(await take({ count: 5, cursor: none.cursor }))).toEqual(['now']);
});

test('claims at once never take the same job', async () => {
  await enqueue(Array.from({ length: 400 }, (_, n) => ({ name: `n${n}`, queue: 'q', tenant: `t${n % 7}` })));
  const claims = await Promise.all(
    Array.from({ length: 8 }, (_, n) => take({ count: 40, leaseId: `lease_${n}` })),
  );
  let rest: string[] = [];
  do {
    rest = names(await take({ count: 100 }));
    claims.push({ jobs: rest.map((name) => ({ name })) } as Claim);
  } while (rest.length > 0);
  const all = claims.flatMap(names);
  expect(all).toHaveLength(400);
  expect(new Set(all).size).toBe(400);
});

test('a job is either cancelled or claimed', async () => {
  for (let round = 0; round < 20; round++) {
    const [made] = await add('race');
    const [{ jobs }, cancelled] = await Promise.all([
      take(),
      db.transaction((tx) => jobStore(tx).cancel([{ tenant_id: 't', id: made!.id }])),
    ]);
    expect(jobs.length + cancelled.length).toBe(1);
    await db.sql`truncate jobs.job`;
  }
});

test('a scope takes jobs of one app or one tenant only', async () => {
  await add('own', { tenant: 't', app: 'shop' });
  await add('other.tenant', { tenant: 'u', app: 'shop' });
  await add('other.app', { tenant: 't', app: 'blog' });
  expect(names(await take({ count: 9, scope: { app: 'shop', tenant: 't' } }))).toEqual(['own']);
  expect(names(await take({ count: 9, scope: { app: 'shop' } }))).toEqual(['other.tenant']);
});

describe('limits', () => {
  const burst = (count: number, more: object = {}) =>
    enqueue(
      Array.from({ length: count }, (_, n) => ({ name: `n${n}`, queue: 'q', tenant: `t${n % 2}`, ...more })),
    );

  test('are noticed by a claim that does not know them', async () => {
    await limit({ max_concurrency: 1 });
    await burst(3);
    expect(await take({ count: 3 })).toMatchObject({ jobs: [], limited: true });
  });

  test('of concurrency hold over claims at once', async () => {
    await limit({ max_concurrency: 3 });
    await burst(30);
    const claims = await Promise.all(Array.from({ length: 6 }, () => takeLimited({ count: 2 })));
    while ((await takeLimited({ count: 2 })).jobs.length > 0);
    expect(await db.sql`select count(*) from jobs.job where state = 'running'`).toEqual([{ count: 3 }]);
    expect(claims.every(({ limited }) => limited)).toBe(true);
    expect(await takeLimited({ count: 2 })).toMatchObject({ jobs: [], more: false, waitMs: 100 });
  });

  test('of a tenant hold over its ranks, and leave the others alone', async () => {
    await limit({ tenant_concurrency: 2 });
    await burst(10);
    await burst(10, { priority: 5 });
    const { jobs } = await takeLimited({ count: 20 });
    expect(jobs.map(({ tenant_id }) => tenant_id).sort()).toEqual(['t0', 't0', 't1', 't1']);
    expect(await takeLimited({ count: 20 })).toMatchObject({ jobs: [] });
  });

  test('of the rate bound every window', async () => {
    await limit({ rate_limit: 50 });
    await burst(60);
    await expect
      .poll(async () => (await takeLimited({ count: 20 })).jobs.length, { timeout: 20_000 })
      .toBe(0);
    await expect
      .poll(
        async () => {
          await takeLimited({ count: 20 });
          const [row] = await db.sql<
            [{ count: number }]
          >`select count(*) from jobs.job where state = 'running'`;
          return row.count;
        },
        { timeout: 20_000 },
      )
      .toBe(60);
    const [row] = await db.sql<[{ most: number }]>`
      select max(started) as most from (
        select (
          select count(*) from jobs.job as other
          where other.started_at >= job.started_at and other.started_at < job.started_at + interval '400 ms'
        ) as started from jobs.job
      ) as windows`;
    expect(row.most).toBeLessThanOrEqual(Math.ceil(50 * (0.4 + 0.1)) + 1);
  });

  test('pause one app and not the other', async () => {
    await limit({ paused: true }, 'shop');
    await burst(2, { app: 'shop' });
    await burst(2, { app: 'blog' });
    const { jobs } = await takeLimited({ count: 9 });
    expect(jobs.map(({ app_id }) => app_id)).toEqual(['blog', 'blog']);
    expect(await takeLimited({ count: 9 })).toMatchObject({ jobs: [], more: false });
    await db.sql`delete from jobs.queue`;
    expect((await takeLimited({ count: 9 })).jobs).toHaveLength(2);
  });
});
