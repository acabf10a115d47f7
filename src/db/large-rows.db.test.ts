import { afterAll, beforeAll, expect, it } from 'vitest';
import { pageOf, windowOf } from '../http/lists.ts';
import { testDatabase, type TestDatabase } from '../testing/database.ts';
import { largeRows } from './large-rows.ts';
import { followsPrevious, onePage, type Order } from './lists.ts';

interface Thing {
  readonly nth: number;
  readonly text: string;
}

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
  await db.sql`create table things (nth integer primary key, text text not null)`;
  // The third one alone is larger than a page.
  await db.sql`
    insert into things select nth, repeat('x', case nth when 3 then 1500 else 400 end) from generate_series(1, 9) as nth`;
});
afterAll(() => db.close());

const byNumber = { columns: { nth: 'number' }, direction: 'asc' } as const satisfies Order;

async function read(limit: number): Promise<number[][]> {
  const pages: number[][] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const window = windowOf({ limit, cursor }, byNumber);
    const page = db.sql`
      select nth, text from things where true ${followsPrevious(db.sql, window)} ${onePage(db.sql, window)}`;
    const size = { of: db.sql`octet_length(text)`, most: 1_000 };
    const { rows, cut } = await largeRows<Thing>(db.sql, byNumber, page, size);
    for (const row of rows) expect(Object.keys(row)).toEqual(['nth', 'text']);
    const { items, next } = pageOf(window, rows, cut);
    pages.push(items.map(({ nth }) => nth));
    cursor = next;
  }
  return pages;
}

it('a page ends with the row with which it is large enough, and the next one goes on after it', async () => {
  expect(await read(100)).toEqual([
    [1, 2, 3],
    [4, 5, 6],
    [7, 8, 9],
  ]);
});

it('a row that is larger than a page ends it, and full pages stay as they are', async () => {
  expect(await read(2)).toEqual([[1, 2], [3], [4, 5], [6, 7], [8, 9]]);
});
