import type { Fragment } from 'postgres';
import type { Pagination } from '../../../generated/billing/types.ts';
import type { Sql } from '../../db/index.ts';

/** The page of a list that a request asks for. Lists are newest first, and ids begin with the time. */
export interface PageRequest {
  readonly limit: number;
  readonly offset: number;
}

/** The most rows that `total` counts. */
const mostCounted = 100_000;

/** The end of the statement of a page. It reads one row more than the page has, which tells whether more follow. */
export const onePage = (sql: Sql, { limit, offset }: PageRequest): Fragment =>
  sql`order by id desc limit ${limit + 1} offset ${offset}`;

/** Counts what a list has, up to a bound. `rows` is a `from` clause with its conditions. */
export async function counted(sql: Sql, rows: Fragment): Promise<number> {
  const [{ total }] = await sql<[{ total: number }]>`
    select count(*)::integer as total from (select 1 ${rows} limit ${mostCounted}) as counted`;
  return total;
}

/** The rows of a page, of which the store read one more, in the envelope of lists. */
export function pageOf<Row, Shown>(
  { limit, offset }: PageRequest,
  { rows, total }: { readonly rows: readonly Row[]; readonly total: number },
  show: (row: Row) => Shown,
): { data: Shown[]; pagination: Pagination } {
  return {
    data: rows.slice(0, limit).map(show),
    pagination: { total, limit, offset, has_more: rows.length > limit },
  };
}

/** Rows of a page and their number, read at once. */
export async function readPage<Row>(
  rows: PromiseLike<readonly Row[]>,
  total: PromiseLike<number>,
): Promise<{ rows: readonly Row[]; total: number }> {
  const [found, count] = await Promise.all([rows, total]);
  return { rows: found, total: count };
}
