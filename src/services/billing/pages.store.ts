import type { Fragment, Sql } from '../../db/index.ts';
import type { Order } from '../../db/lists.ts';

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

/** The order of lists, for pages that are bounded in bytes. */
export const newestById = { columns: { id: 'string' }, direction: 'desc' } as const satisfies Order;

/** Rows of a page and their number, read at once. */
export async function readPage<Row>(
  rows: PromiseLike<readonly Row[]>,
  total: PromiseLike<number>,
): Promise<{ rows: readonly Row[]; total: number }> {
  const [found, count] = await Promise.all([rows, total]);
  return { rows: found, total: count };
}
