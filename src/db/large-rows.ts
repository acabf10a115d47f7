import type { Fragment } from 'postgres';
import { orderedBy, type Order } from './lists.ts';
import type { Sql } from './sql.ts';

/** The most bytes of large columns on a page, unless its list has another bound. A page has at least one row. */
const mostBytes = 8 * 1_024 * 1_024;

/** A row of a page that may be shorter than was asked. */
export interface Sized {
  /** The number of rows that there were before the page was cut for its size. */
  readonly found: number;
}

/** How large the rows of a page are. */
export interface Size {
  /** The bytes of the large columns of a row, as an expression of the page's columns. */
  readonly of: Fragment;
  /** The most bytes of a page. */
  readonly most?: number;
}

/** The rows of a page (`onePage`) up to the one with which it is large enough. What is cut does not leave the database. */
export const ofBoundedSize = (sql: Sql, order: Order, page: Fragment, { of, most = mostBytes }: Size) => sql`
  select * from (
    select page.*, count(*) over () as found,
      sum(${of}) over (order by ${orderedBy(sql, order, 'page')} rows between unbounded preceding and 1 preceding) as bytes_before
    from (${page}) as page
  ) as sized
  where coalesce(bytes_before, 0) < ${most}`;

/** Where the next page begins when this one was cut for its size; undefined when it was not. */
export const cutAt = <Row extends Sized>(rows: readonly Row[]): Row | undefined =>
  rows.length > 0 && rows[0]!.found > rows.length ? rows.at(-1) : undefined;

/** Reads a page whose rows may be large, and where the next one goes on if this one was cut for its size. */
export async function largeRows<Row extends object>(
  sql: Sql,
  order: Order,
  page: Fragment,
  size: Size,
): Promise<{ rows: Row[]; cut: Row | undefined }> {
  const sized = await sql<(Row & Sized & { readonly bytes_before: number })[]>`
    ${ofBoundedSize(sql, order, page, size)} order by ${orderedBy(sql, order)}`;
  const rows = sized.map(({ found: _, bytes_before: __, ...row }) => row as unknown as Row);
  return { rows, cut: cutAt(sized) === undefined ? undefined : rows.at(-1) };
}
