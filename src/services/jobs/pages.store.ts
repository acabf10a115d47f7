import type { Fragment, Sql } from '../../db/index.ts';

/** The most bytes of payloads and outputs on a page; a page has at least one row. */
const mostBytes = 8 * 1_024 * 1_024;

/** A row of a page that may be shorter than was asked. */
export interface Sized {
  readonly id: string;
  /** The number of rows that there were before the page was cut for its size. */
  readonly found: number;
}

/** Cuts the rows of a page, newest first, when their JSON is large. @param size the bytes of a row */
export const ofBoundedSize = (sql: Sql, rows: Fragment, size: Fragment) => sql`
  select * from (
    select page.*, count(*) over () as found,
      sum(${size}) over (order by id desc rows between unbounded preceding and 1 preceding) as bytes_before
    from (${rows}) as page
  ) as sized
  where coalesce(bytes_before, 0) < ${mostBytes}`;

/** Where the next page begins when this one was cut for its size. */
export const cutAt = <Row extends Sized>(rows: readonly Row[]): Row | undefined =>
  rows.length > 0 && rows[0]!.found > rows.length ? rows.at(-1) : undefined;
