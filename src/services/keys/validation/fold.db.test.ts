import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Granularity, Outcome, UsageRecord } from '../../../../generated/keys/types.ts';
import { startSweeps } from '../../../db/engine/testing/sweeping.ts';
import { runSweep } from '../../../db/sweeps.ts';
import { newId } from '../../../lib/ids.ts';
import { testDatabase, type TestDatabase } from '../../../testing/database.ts';
import { until } from '../../../testing/until.ts';
import { journalStore } from './journal.store.ts';
import { usageSweeps } from './retention.ts';
import { contextOf, openKeys, type OpenKeys } from './testing/open-keys.ts';
import { recordAt } from './testing/uses.ts';
import { usageStore } from './usage.store.ts';

let db: TestDatabase;
let service: OpenKeys;
beforeAll(async () => {
  db = await testDatabase({ services: ['keys'] });
  service = await openKeys(db);
});
afterAll(async () => {
  await service.close();
  await db.close();
});

const acme = contextOf('acme');
const day = 86_400_000;
const listed = (keyId: string) => service.usage.forKey({ keyId, limit: 1000 }, acme);

it('usage is folded in the background where the engine runs, again and again', async () => {
  const { raw_key } = await service.issue();
  const left = () => db.sql`select from keys.usage_journal`;
  const sweeping = startSweeps(db, [service.validator.fold.sweep]);
  for (let count = 0; count < 2; count++) {
    await service.validate(raw_key, { record: 'durable' });
    await expect.poll(left).toEqual([]);
  }
  await sweeping.stop();
});

describe('aggregates', () => {
  const outcomes: Outcome[] = ['VALID', 'RATE_LIMITED', 'EXPIRED'];
  /** Moments around the boundaries of hours, days and months. */
  const borders = [
    '2026-11-20T10:00:00Z',
    '2026-11-20T00:00:00Z',
    '2026-11-01T00:00:00Z',
    '2026-12-01T00:00:00Z',
  ];
  const moment = fc
    .tuple(
      fc.constantFrom(...borders),
      fc.integer({ min: -2, max: 2 }),
      fc.constantFrom(1, 60_000, 3_600_000),
    )
    .map(([border, steps, step]) => Date.parse(border) + steps * step);
  const history = fc.array(
    fc.record({
      ms: moment,
      outcome: fc.constantFrom(...outcomes),
      cost: fc.integer({ min: 0, max: 5 }),
      status_code: fc.constantFrom(null, 200, 399, 400, 503),
      latency_ms: fc.option(fc.integer({ min: 0, max: 1000 })),
      key: fc.constantFrom('a', 'b'),
    }),
    { minLength: 1, maxLength: 40 },
  );

  /** The same sums, computed from the records. */
  function grouped(records: readonly UsageRecord[], granularity: Granularity) {
    const length = { hourly: 13, daily: 10, monthly: 7 }[granularity];
    const start = (time: string) => time.slice(0, length) + '0000-01-01T00:00:00.000Z'.slice(length);
    const periods = Map.groupBy(records, ({ created_at }) => start(created_at));
    return [...periods].toSorted().map(([period_start, members]) => {
      const latencies = members.flatMap(({ latency_ms }) => (latency_ms === null ? [] : [latency_ms]));
      const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
      return {
        period_start,
        request_count: members.length,
        valid_count: members.filter(({ outcome }) => outcome === 'VALID').length,
        refused_count: members.filter(({ outcome }) => outcome !== 'VALID').length,
        error_count: members.filter(({ status_code }) => (status_code ?? 0) >= 400).length,
        cost: sum(members.map(({ cost }) => cost)),
        by_outcome: Object.fromEntries(
          [...Map.groupBy(members, ({ outcome }) => outcome)].map(([o, m]) => [o, m.length]),
        ),
        latency_avg_ms: latencies.length === 0 ? null : sum(latencies) / latencies.length,
      };
    });
  }

  it('are the group-by over the records, for random histories at the borders of all periods', async () => {
    let run = 0;
    const property = fc.asyncProperty(history, async (uses) => {
      run += 1;
      const tenant = `tenant-${run}`;
      const records = uses.map(({ ms, key, ...use }) =>
        recordAt(ms, { ...use, tenant_id: tenant, key_id: `${tenant}-${key}` }),
      );
      const journal = journalStore(db.sql);
      await journal.append(records.slice(0, 10), [], false);
      if (records.length > 10) await journal.append(records.slice(10), [], true);
      await service.validator.fold.now();
      const range = { from: '2026-10-31', to: '2026-12-02' };
      for (const granularity of ['hourly', 'daily', 'monthly'] as const) {
        const whole = await service.usage.aggregate({ ...range, granularity }, contextOf(tenant));
        const owner = { key_id: null, tenant_id: tenant, granularity };
        expect(whole).toEqual(grouped(records, granularity).map((sum) => ({ ...owner, ...sum })));
        const key = `${tenant}-a`;
        const ofKey = await usageStore(db.sql).aggregate({ ...range, tenant, key, granularity });
        const own = records.filter(({ key_id }) => key_id === key);
        expect(ofKey).toEqual(grouped(own, granularity).map((sum) => ({ ...owner, key_id: key, ...sum })));
      }
    });
    await fc.assert(property, { numRuns: 25, seed: 20261120 });
  });

  it('over a flood of refusals are exact, while the rows stay bounded', async () => {
    const { raw_key, key } = await service.issue();
    await service.keys.revoke({ keyId: key.id }, acme);
    const flood = 100_000;
    for (let sent = 0; sent < flood; sent += 1_000) {
      await Promise.all(
        Array.from({ length: 1_000 }, () => service.validate(raw_key, { record: 'durable' })),
      );
    }
    const sums = await service.usage.aggregateForKey({ keyId: key.id, granularity: 'daily' }, acme);
    expect(sums.reduce((total, { refused_count }) => total + refused_count, 0)).toBe(flood);
    // The flood may have crossed a minute boundary.
    expect((await listed(key.id)).length).toBeLessThanOrEqual(120);
  });

  it('of more than 1000 periods are refused', async () => {
    const { key } = await service.issue();
    const request = { keyId: key.id, from: '2026-01-01', to: '2026-03-01', granularity: 'hourly' as const };
    await expect(service.usage.aggregateForKey(request, acme)).rejects.toMatchObject({ kind: 'invalid' });
    expect(await service.usage.aggregateForKey({ ...request, granularity: 'daily' }, acme)).toEqual([]);
  });
});

describe('a journal that one statement does not fold', () => {
  it.each([
    ['for the number of its rows', 2_100, 1],
    ['for their size', 30, 500],
  ])('%s is empty when a read begins, and everything is counted once', async (_, rows, each) => {
    const { key } = await service.issue();
    const record = { ...recordAt(Date.now()), key_id: key.id, tenant_id: 'acme' };
    await db.sql`
      insert into keys.usage_journal (rows, counts)
      select
        (
          select json_agg(${db.sql.json(record)}::jsonb || jsonb_build_object(
            'id', 'kuse_' || md5(format('%s %s %s', ${key.id}::text, n, m)),
            'user_agent', (select string_agg(md5(format('%s %s %s', n, m, part)), '') from generate_series(1, 16) part)
          ))
          from generate_series(1, ${each}::int) m
        ),
        '[]'
      from generate_series(1, ${rows}::int) n
    `;
    const sums = await service.usage.aggregateForKey({ keyId: key.id, granularity: 'daily' }, acme);
    expect(sums.reduce((sum, { request_count }) => sum + request_count, 0)).toBe(rows * each);
    expect(await journalStore(db.sql).newest()).toBeNull();
  });
});

describe('the event rate_limited', () => {
  it('is told at most once a minute for each key, with the number of refusals', async () => {
    const tenant = `events-${newId('x')}`;
    const { key } = await service.issue({}, contextOf(tenant));
    const refusals = (count: number) => [
      {
        tenant_id: tenant,
        key_id: key.id,
        hour: '2026-11-20T09:00:00.000Z',
        outcome: 'RATE_LIMITED' as const,
        count,
      },
    ];
    const told = () => db.sql`
      select subject, actor, data from keys.outbox where tenant_id = ${tenant} and type = 'keys.key.rate_limited' order by seq
    `;
    const fold = async (count: number) => {
      await journalStore(db.sql).append([], refusals(count), false);
      await service.validator.fold.now();
    };
    await fold(5);
    await fold(7);
    const first = { subject: key.id, actor: key.id, data: { refused: 5 } };
    expect(await told()).toEqual([first]);
    await db.sql`update keys.rate_notices set minute = minute - interval '1 minute' where tenant_id = ${tenant}`;
    await fold(2);
    expect(await told()).toEqual([first, { ...first, data: { refused: 9 } }]);
  });
});

describe.skipIf(inject('engine') === 'pglite')('a database that stands still', () => {
  it('fills the backlog, then refuses with Retry-After, and all goes on when it moves again', async () => {
    const small = await openKeys(db, { settings: { usageBacklog: 1_000 } });
    const { raw_key, key } = await service.issue();
    await small.validate(raw_key);
    const go = Promise.withResolvers<void>();
    const locked = Promise.withResolvers<void>();
    const standing = db.transaction(async (sql) => {
      await sql`lock table keys.usage_journal in access exclusive mode`;
      locked.resolve();
      await go.promise;
    });
    await locked.promise;
    const asked = Array.from({ length: 1_000 }, () => small.validate(raw_key, { record: 'durable' }));
    await until(async () => {
      const refused = await small.validate(raw_key, { record: 'async' }).catch((error: unknown) => error);
      return refused instanceof Error;
    });
    await expect(small.validate(raw_key, { record: 'durable' })).rejects.toMatchObject({
      kind: 'rateLimited',
      retryAfter: 1,
    });
    expect((await small.validate(raw_key, { record: 'none' })).valid).toBe(true);
    go.resolve();
    await standing;
    expect((await Promise.all(asked)).every(({ valid }) => valid)).toBe(true);
    expect((await small.validate(raw_key, { record: 'durable' })).valid).toBe(true);
    const stored = await service.usage.forKey({ keyId: key.id, limit: 1000 }, acme);
    expect(stored).toHaveLength(1000);
    await small.close();
  });
});

describe('retention', () => {
  const retention = { usageRetention: 30 * day, hourlyRetention: 60 * day };
  const sweep = async () => {
    for (const one of usageSweeps(db, retention)) await runSweep(one);
  };

  it('drops whole days and old hours, adds the days to come, and never makes a validation wait', async () => {
    const { raw_key, key } = await service.issue();
    const now = Date.now();
    const journal = journalStore(db.sql);
    for (const age of [70, 40, 31, 29, 1])
      await journal.append([recordAt(now - age * day, { key_id: key.id })], [], false);
    await service.validator.fold.now();
    const ages = async () => {
      const from = new Date(now - 100 * day).toISOString();
      const records = await service.usage.forKey({ keyId: key.id, from, limit: 100 }, acme);
      return records.map(({ created_at }) => Math.round((now - Date.parse(created_at)) / day));
    };
    expect(await ages()).toEqual([1, 29, 31, 40, 70]);
    const dropping = sweep();
    const validations = Promise.all(
      Array.from({ length: 20 }, () => service.validate(raw_key, { record: 'durable' })),
    );
    expect((await validations).every(({ valid }) => valid)).toBe(true);
    await dropping;
    expect((await ages()).filter((age) => age > 0)).toEqual([1, 29]);
    const monthly = await service.usage.aggregateForKey(
      { keyId: key.id, from: new Date(now - 100 * day).toISOString(), granularity: 'daily' },
      acme,
    );
    expect(monthly.map(({ period_start }) => Math.floor((now - Date.parse(period_start)) / day))).toEqual([
      40, 31, 29, 1, 0,
    ]);
  });

  it('lets a validation be answered while a reader keeps the partitions from being dropped', async () => {
    if (db.engine === 'pglite') return;
    const { raw_key } = await service.issue();
    const old = Date.now() - 200 * day;
    await journalStore(db.sql).append([recordAt(old)], [], false);
    await service.validator.fold.now();
    const finished = Promise.withResolvers<void>();
    const reading = db.transaction(async (sql) => {
      await sql`select count(*) from keys.usage`;
      await finished.promise;
    });
    const dropping = sweep();
    const result = await service.validate(raw_key, { record: 'durable' });
    expect(result.valid).toBe(true);
    finished.resolve();
    await reading;
    await dropping;
  });

  it('reads by index, whatever else is stored', async () => {
    const plan = await db.transaction(async (sql) => {
      await sql`set local enable_seqscan = off`;
      return await sql`
        explain select id from keys.usage
        where tenant_id = 'acme' and key_id = 'key_x' and created_at >= '2026-11-01' and created_at < '2026-12-01'
        order by created_at desc, id desc limit 101
      `;
    });
    const lines = plan.map((row) => String(row['QUERY PLAN'])).join('\n');
    expect(lines).not.toMatch(/Seq Scan/);
    expect(lines).toMatch(/Index (Only )?Scan/);
  });
});
