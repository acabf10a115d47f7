import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { testDatabase, type TestDatabase } from '../testing/database.ts';
import { type Changes, type ChangesOptions, createChanges, type LoggedChange } from './changes.ts';
import { openDatabase, type Database } from './index.ts';

const log = pino({ level: 'silent' });
const key = (id: string) => ({ kind: 'key', id });
let db: TestDatabase;
let open: Changes[] = [];
beforeAll(async () => {
  db = await testDatabase();
  await db.sql`create schema things`;
});
beforeEach(async () => {
  await db.sql`drop table if exists things.changes`;
  await db.sql`
    create table things.changes (
      seq bigint generated always as identity, kind text not null, id text not null,
      xid xid8 not null default pg_current_xact_id(),
      horizon xid8 not null default pg_snapshot_xmin(pg_current_snapshot()),
      at timestamptz(3) not null default now(), constraint changes_pkey primary key (seq)
    )
  `;
});
afterEach(async () => {
  await Promise.all(open.map((each) => each.stop()));
  open = [];
});
afterAll(() => db.close());

async function started(on: Database = db, options: Partial<ChangesOptions> = {}): Promise<Changes> {
  const one = createChanges({ db: on, schema: 'things', log, ...options });
  open.push(one);
  await one.start();
  return one;
}

describe('the process that makes a change', () => {
  test('has applied it when the transaction resolves', async () => {
    const own = await started();
    const before = own.position();
    await db.transaction(async (sql) => {
      await own.record(sql, key('a'));
      expect(own.isCurrent(before, [key('a')])).toBe(true);
    });
    expect(own.isCurrent(before, [key('a')])).toBe(false);
    expect(own.isCurrent(before, [key('b')])).toBe(true);
    expect(own.isCurrent(own.position(), [key('a')])).toBe(true);
  });

  test('applies nothing of a transaction that was rolled back', async () => {
    const own = await started();
    const before = own.position();
    const failed = db.transaction(async (sql) => {
      await own.record(sql, key('a'));
      throw new Error('no');
    });
    await expect(failed).rejects.toThrow('no');
    expect(own.isCurrent(before, [key('a')])).toBe(true);
  });

  test('tells its subscribers once, with the place in the log', async () => {
    const own = await started();
    const heard: (LoggedChange | 'all')[] = [];
    own.subscribe((change) => heard.push(change));
    await db.transaction((sql) => own.record(sql, key('a'), { kind: 'policy', id: 'p' }));
    await db.transaction((sql) => own.record(sql, key('b')));
    expect(heard).toEqual([
      { seq: 1, kind: 'key', id: 'a' },
      { seq: 2, kind: 'policy', id: 'p' },
      { seq: 3, kind: 'key', id: 'b' },
    ]);
  });
});

test('what came after a place in the log can be read, until the place was pruned', async () => {
  const own = await started();
  for (const id of ['a', 'b', 'c']) await db.transaction((sql) => own.record(sql, key(id)));
  // While other transactions of the server are open, more changes are repeated, but never fewer.
  expect((await own.since(1))?.map(({ id }) => id)).toEqual(expect.arrayContaining(['b', 'c']));
  expect(await own.since(3)).toBeDefined();
  await db.sql`delete from things.changes where seq = 1`;
  expect(await own.since(1)).toBeUndefined();
});

test('more than a reader can catch up with is not read', async () => {
  const own = await started();
  await db.transaction((sql) => own.record(sql, key('a')));
  await db.sql`insert into things.changes (kind, id) select 'key', at::text from generate_series(1, 10001) as at`;
  expect(await own.since(1)).toBeUndefined();
  expect(await own.since(10_000)).toBeUndefined();
  // An open transaction of another test makes a reader repeat the ten thousand changes until that transaction ends.
  await expect
    .poll(async () => {
      await db.transaction((sql) => own.record(sql, key('b')));
      const [{ last }] = await db.sql<[{ last: number }]>`select max(seq)::int4 as last from things.changes`;
      return own.since(last);
    })
    .toEqual([]);
});

describe.runIf(inject('engine') === 'postgres')('another process', () => {
  let other: Database;
  beforeAll(async () => {
    other = await openDatabase({ ...db.options, log });
  });
  afterAll(() => other.close());

  test('applies the change when the notice arrives, long before it would poll', async () => {
    const here = await started();
    const there = await started(other, { pollMs: 1_000_000, stalenessMs: 1_000_000 });
    await db.sql`select pg_sleep(0.2)`;
    const before = there.position();
    await db.transaction((sql) => here.record(sql, key('a')));
    await expect.poll(() => there.isCurrent(before, [key('a')])).toBe(false);
    expect(there.isCurrent(before, [key('b')])).toBe(true);
  });

  test('applies it by polling when no notice arrives', async () => {
    const there = await started(other, { pollMs: 20 });
    const before = there.position();
    await db.sql`insert into things.changes (kind, id) values ('key', 'a')`;
    await expect.poll(() => there.isCurrent(before, [key('a')])).toBe(false);
  });

  test('misses no change of a transaction that committed after a later number was seen', async () => {
    const there = await started(other, { pollMs: 10 });
    const heard: string[] = [];
    there.subscribe((change) => heard.push(change === 'all' ? 'all' : change.id));
    let seen = 0;
    await db.transaction(async (sql) => {
      await sql`insert into things.changes (kind, id) values ('key', 'early')`;
      await db.sql`insert into things.changes (kind, id) values ('key', 'late')`;
      await expect.poll(() => heard).toEqual(['late']);
      const [row] = await db.sql<{ seq: number }[]>`select seq from things.changes where id = 'late'`;
      seen = row?.seq ?? 0;
    });
    await expect.poll(() => heard).toEqual(['late', 'early']);
    // A stream that had delivered `late` resumes without losing `early`.
    expect((await there.since(seen))?.map(({ id }) => id)).toContain('early');
  });

  test('answers nothing from its caches once it has not heard for the staleness bound', async () => {
    let now = 0;
    const there = await started(other, { pollMs: 1_000_000, stalenessMs: 1500, now: () => now });
    await db.sql`select pg_sleep(0.1)`;
    const position = there.position();
    now = 1500;
    expect(there.isCurrent(position, [key('a')])).toBe(true);
    now = 1501;
    expect(there.fresh()).toBe(false);
    expect(there.isCurrent(position, [key('a')])).toBe(false);
  });

  test('catches up after a pause, and forgets everything after one that the log does not cover', async () => {
    let now = 0;
    const there = await started(other, { pollMs: 10, now: () => now });
    const heard: string[] = [];
    there.subscribe((change) => heard.push(change === 'all' ? 'all' : change.id));
    const before = there.position();
    now = 1_000_000;
    await db.sql`insert into things.changes (kind, id) values ('key', 'a')`;
    await expect.poll(() => heard).toEqual(['a']);
    expect(there.isCurrent(before, [key('b')])).toBe(true);
    now += 1_800_001;
    await expect.poll(() => heard).toEqual(['a', 'all']);
    expect(there.isCurrent(before, [key('b')])).toBe(false);
    expect(there.isCurrent(there.position(), [key('b')])).toBe(true);
  });

  test('forgets everything when there is more than it is expected to catch up with', async () => {
    const there = await started(other, { pollMs: 10 });
    const before = there.position();
    await db.sql`insert into things.changes (kind, id) select 'key', 'mass' || n from generate_series(1, 10001) as n`;
    await expect.poll(() => there.isCurrent(before, [key('none of them')])).toBe(false);
    const after = there.position();
    await db.sql`insert into things.changes (kind, id) values ('key', 'a')`;
    await expect.poll(() => there.isCurrent(after, [key('a')])).toBe(false);
    expect(there.isCurrent(after, [key('b')])).toBe(true);
  });

  test('never serves an entry that was read before a change it has heard of, however fills and changes interleave', async () => {
    await db.sql`create table things.values (id text primary key, version int)`;
    await db.sql`insert into things.values select 'v' || n, 0 from generate_series(0, 4) as n`;
    const here = await started();
    const there = await started(other, { pollMs: 10 });
    const cache = new Map<string, { position: number; version: number }>();
    const acknowledged = new Map<string, number>();
    let writing = true;
    let hits = 0;

    const fill = async (id: string) => {
      const position = there.position();
      const [row] = await other.sql<
        { version: number }[]
      >`select version from things.values where id = ${id}`;
      cache.set(id, { position, version: row?.version ?? -1 });
    };
    const reader = async () => {
      while (writing) {
        const id = `v${Math.floor(Math.random() * 5)}`;
        const entry = cache.get(id);
        const heard = acknowledged.get(id) ?? 0;
        if (entry !== undefined && there.isCurrent(entry.position, [key(id)])) {
          hits++;
          expect(entry.version).toBeGreaterThanOrEqual(heard);
          await new Promise(setImmediate);
        } else await fill(id);
      }
    };
    there.subscribe((change) => {
      if (change === 'all') return;
      // From this point on no older version may be served.
      acknowledged.set(change.id, Math.max(acknowledged.get(change.id) ?? 0, committed.get(change.seq) ?? 0));
    });
    const committed = new Map<number, number>();
    const readers = Array.from({ length: 4 }, reader);
    for (let version = 1; version <= 300; version++) {
      const id = `v${version % 5}`;
      await db.transaction(async (sql) => {
        await sql`update things.values set version = ${version} where id = ${id}`;
        await here.record(sql, key(id));
        const [row] = await sql<{ seq: number }[]>`select max(seq) as seq from things.changes`;
        committed.set(row?.seq ?? 0, version);
      });
    }
    writing = false;
    await Promise.all(readers);
    expect(hits).toBeGreaterThan(0);
    expect(acknowledged.size).toBe(5);
  });
});
