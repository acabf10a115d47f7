import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { answerPage, type Page, pageOf, type PageRequest, windowOf } from '../http/lists.ts';
import { encodeCursor } from '../lib/cursors.ts';
import { testDatabase, type TestDatabase } from '../testing/database.ts';
import { followsPrevious, newestFirst, onePage, type Order, type Window } from './lists.ts';

interface Thing {
  readonly created_at: string;
  readonly id: string;
  readonly size: number;
}

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
  await db.sql`create table things (
    tenant_id text collate "C" not null, id text collate "C" not null, size bigint not null,
    created_at timestamptz(3) not null, primary key (tenant_id, id)
  )`;
  await db.sql`create index things_newest on things (tenant_id, created_at desc, id desc)`;
  await db.sql`create index things_by_size on things (tenant_id, size, id)`;
});
afterAll(() => db.close());

const bySize = { columns: { size: 'number', id: 'string' }, direction: 'asc' } as const satisfies Order;

const list = <O extends Order>(tenant: string, window: Window<O>) => db.sql<Thing[]>`
  select thing.created_at, thing.id, thing.size
  from things thing
  where thing.tenant_id = ${tenant} ${followsPrevious(db.sql, window, 'thing')}
  ${onePage(db.sql, window, 'thing')}`;

/** Inserts things; each `perMoment` of them have the same time. */
async function insert(tenant: string, from: number, count: number, perMoment = 1): Promise<void> {
  await db.sql`
    insert into things (tenant_id, id, size, created_at)
    select ${tenant}, 'thing_' || lpad(n::text, 4, '0'), n % 7,
      '2026-11-20T09:30:00Z'::timestamptz + (n / ${perMoment}::int) * interval '1 millisecond'
    from generate_series(${from}::int, ${from + count - 1}::int) as n`;
}

type Read = (tenant: string, request: PageRequest) => Promise<Page<Thing>>;

const readNewest: Read = async (tenant, request) => {
  const window = windowOf(request);
  return pageOf(window, await list(tenant, window));
};

const readBySize: Read = async (tenant, request) => {
  const window = windowOf(request, bySize);
  return pageOf(window, await list(tenant, window));
};

/** Reads the list to its end and returns the ids; `between` runs after each page. */
async function walk(
  read: Read,
  tenant: string,
  limit: number,
  between: (page: readonly Thing[]) => Promise<unknown> = async () => {},
): Promise<string[]> {
  const found: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const { items, next } = await read(tenant, { limit, cursor });
    found.push(...items.map(({ id }) => id));
    cursor = next;
    await between(items);
  }
  return found;
}

const ids = (numbers: readonly number[]) => numbers.map((n) => `thing_${String(n).padStart(4, '0')}`);
const downFrom = (count: number) => Array.from({ length: count }, (_, n) => count - 1 - n);

describe.each([1, 2, 3, 7, 100])('in pages of %i', (limit) => {
  test('a list is complete and in its order, also where many rows have the same time', async () => {
    const tenant = `ties-${limit}`;
    await insert(tenant, 0, 40, 13);
    expect(await walk(readNewest, tenant, limit)).toEqual(ids(downFrom(40)));
  });

  test('an ascending list too', async () => {
    const tenant = `sizes-${limit}`;
    await insert(tenant, 0, 40);
    const expected = Array.from({ length: 40 }, (_, n) => n).sort((a, b) => (a % 7) - (b % 7) || a - b);
    expect(await walk(readBySize, tenant, limit)).toEqual(ids(expected));
  });
});

test('whoever walks a list sees each row that stays exactly once, while others come and go', async () => {
  await insert('moving', 0, 60, 10);
  let newest = 60;
  const found = await walk(readNewest, 'moving', 7, async (page) => {
    await insert('moving', newest, 3, 10);
    newest += 3;
    // Deletes the last row of the page, on which the cursor stands, and the first row of the next page.
    const at = Number(page.at(-1)!.id.slice(6));
    await db.sql`delete from things where tenant_id = 'moving' and id in ${db.sql(ids([at, at - 1]))}`;
  });
  expect(new Set(found).size).toBe(found.length);
  const stayed = await db.sql<{ id: string }[]>`
    select id from things where tenant_id = 'moving' and id < 'thing_0060' order by id desc`;
  expect(found.filter((id) => stayed.some((row) => row.id === id))).toEqual(stayed.map(({ id }) => id));
});

test('no cursor that is accepted makes a statement fail', async () => {
  const places = [
    { created_at: '0001-01-01T00:00:00Z', id: '' },
    { created_at: '9999-12-31T23:59:59.999999Z', id: '\u{10ffff}' },
    { created_at: '2024-02-29T23:59:59Z', id: '\\x00' },
  ];
  for (const place of places)
    expect((await readNewest('none', { limit: 3, cursor: encodeCursor(place) })).items).toEqual([]);
  const narrow = { columns: { few: 'number', id: 'string' }, direction: 'desc' } as const satisfies Order;
  await db.sql`create table few (few integer not null, id text collate "C" not null)`;
  await db.sql`insert into few values (1, 'a')`;
  for (const few of [Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]) {
    const window = windowOf({ limit: 3, cursor: encodeCursor({ few, id: 'z' }) }, narrow);
    const rows = await db.sql`
      select few, id from few where true ${followsPrevious(db.sql, window)} ${onePage(db.sql, window)}`;
    expect(rows).toHaveLength(few > 0 ? 1 : 0);
  }
});

test('an offset skips rows, and a page knows whether another follows', async () => {
  await insert('offset', 0, 10);
  const headers: unknown[] = [];
  const reply = { status() {}, header: (...header: unknown[]) => void headers.push(header) };
  for (const offset of [0, 3, 7, 20]) {
    const window = windowOf({ limit: 3, offset });
    const page = answerPage(reply, window, await list('offset', window));
    expect(page.map(({ id }) => id)).toEqual(ids(downFrom(10).slice(offset, offset + 3)));
  }
  expect(headers).toHaveLength(2);
});

test.each([
  [
    'newest first',
    newestFirst,
    'things_newest',
    { created_at: '2026-11-20T09:30:00.020Z', id: 'thing_0020' },
  ],
  ['by size', bySize, 'things_by_size', { size: 3, id: 'thing_0020' }],
] as const)(
  'a list that is %s reads a range of one index, without sorting',
  async (_, order, index, after) => {
    const window = { order, limit: 5, offset: 0, after } as unknown as Window<Order>;
    const plan = await db.transaction(async (sql) => {
      await sql`set local enable_seqscan = off`;
      await sql`set local enable_bitmapscan = off`;
      return await sql`
      explain (costs off) select created_at, id from things
      where tenant_id = 'offset' ${followsPrevious(sql, window)} ${onePage(sql, window)}`;
    });
    const lines = plan.map((row) => String(row['QUERY PLAN'])).join('\n');
    expect(lines).not.toMatch(/Sort|Filter/);
    expect(lines).toMatch(new RegExp(`Index (Only )?Scan( Backward)? using ${index}`));
  },
);
