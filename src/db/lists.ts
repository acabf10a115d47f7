import type { Fragment } from 'postgres';
import type { Cursor, Shape } from '../lib/cursors.ts';
import type { Sql } from './sql.ts';

/**
 * The order of a list: columns whose values together occur once, the most significant first. All of them have the same
 * direction, so that one index on these columns serves every page, forwards or backwards.
 */
export interface Order<Columns extends Shape = Shape> {
  readonly columns: Columns;
  readonly direction: 'asc' | 'desc';
}

/** The order of a list unless there is a reason for another one. */
export const newestFirst = {
  columns: { created_at: 'time', id: 'string' },
  direction: 'desc',
} as const satisfies Order;

/** The position of a row in a list: its values in the columns of the order. */
export type PlaceIn<O extends Order> = Readonly<Cursor<O['columns']>>;

/** What a store needs to read one page of a list. `windowOf` in `src/http/lists.ts` makes it from a request. */
export interface Window<O extends Order = typeof newestFirst> {
  readonly order: O;
  /** The number of rows on the page. */
  readonly limit: number;
  /** The number of rows to skip. */
  readonly offset: number;
  /** The position of the last row of the previous page; null on the first page. */
  readonly after: PlaceIn<O> | null;
}

/**
 * The condition that a row follows the previous page, for the end of a `where`: `and (created_at, id) < (…)`. On the first page
 * it is empty. `table` is the name under which the statement knows the table; it is needed when other tables have the columns too.
 */
export function followsPrevious<O extends Order>(
  sql: Sql,
  { order, after }: Pick<Window<O>, 'order' | 'after'>,
  table?: string,
): Fragment {
  if (after === null) return sql``;
  const names = columnsOf(order, table).map((column) => sql`${sql(column)}`);
  // A forged cursor may hold a number that is too large for a column of type integer.
  const values = Object.entries(order.columns).map(([column, kind]) =>
    kind === 'number' ? sql`${after[column]!}::bigint` : sql`${after[column]!}`,
  );
  const than = order.direction === 'desc' ? sql`<` : sql`>`;
  return sql`and (${joined(sql, names)}) ${than} (${joined(sql, values)})`;
}

/** The columns of the order with their direction, for the end of an `order by`. */
export function orderedBy(sql: Sql, order: Order, table?: string): Fragment {
  const direction = order.direction === 'desc' ? sql`desc` : sql`asc`;
  return joined(
    sql,
    columnsOf(order, table).map((column) => sql`${sql(column)} ${direction}`),
  );
}

/**
 * The end of the statement that reads a page: `order by … limit … offset …`. It reads one row more than the page has, from which
 * `answerPage` in `src/http/lists.ts` learns whether another page follows.
 */
export function onePage<O extends Order>(
  sql: Sql,
  { order, limit, offset }: Omit<Window<O>, 'after'>,
  table?: string,
): Fragment {
  return sql`order by ${orderedBy(sql, order, table)} limit ${limit + 1} offset ${offset}`;
}

const columnsOf = (order: Order, table: string | undefined): string[] =>
  Object.keys(order.columns).map((column) => (table === undefined ? column : `${table}.${column}`));

const joined = (sql: Sql, parts: readonly Fragment[]): Fragment =>
  parts.reduce((before, part) => sql`${before}, ${part}`);
