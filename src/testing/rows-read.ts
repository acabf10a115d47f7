import type { Sql } from '../db/index.ts';

/**
 * How many rows of these tables and indexes some work reads in its transaction. The counters keep what earlier transactions of the
 * connection read until PostgreSQL passes them on, about once a second, so what counts is the difference.
 */
export async function rowsRead(
  sql: Sql,
  relations: readonly string[],
  work: () => Promise<unknown>,
): Promise<number> {
  const readSoFar = async () => {
    const [row] = await sql<[{ read: number }]>`
      select sum(pg_stat_get_xact_tuples_returned(name::regclass))::int as read from unnest(${[...relations]}::text[]) as name`;
    return row.read;
  };
  const before = await readSoFar();
  await work();
  return (await readSoFar()) - before;
}
