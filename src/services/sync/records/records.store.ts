import type { Cell } from '../../../../sdk/src/sync/cells.ts';
import type { Order, Window } from '../../../db/lists.ts';
import type { Sql } from '../../../db/index.ts';
import type { Dataset } from '../dataset.ts';
import { cellBytes, pageBytes } from '../limits.ts';

/** Records are listed by their keys. */
export const byKey = { columns: { pk: 'string' }, direction: 'asc' } as const satisfies Order;

/** Cells of records, by key and then in the order of their fields. */
export interface RecordCells {
  readonly cells: readonly Cell[];
  /** Whether there are more, which did not fit. */
  readonly isCut: boolean;
}

/** The most cells that one response is made of. */
const mostCells = 20_000;

export const recordStore = (sql: Sql) => ({
  /** The keys of a page of records, and one more; each is found by a probe of the index, however many cells a record has. */
  async keys(
    { tenant, app }: Dataset,
    table: string,
    { after, limit }: Window<typeof byKey>,
  ): Promise<string[]> {
    const next = (than: ReturnType<typeof sql>) => sql`
      (select pk from sync.cells where tenant_id = ${tenant} and app_id = ${app} and tbl = ${table} and ${than}
       order by pk limit 1)`;
    const rows = await sql<{ pk: string }[]>`
      with recursive found(pk) as (
        ${next(after === null ? sql`true` : sql`pk > ${after.pk}`)}
        union all
        select ${next(sql`pk > found.pk`)} from found where found.pk is not null
      )
      select pk from found where pk is not null limit ${limit + 1}`;
    return rows.map(({ pk }) => pk);
  },

  /** As many cells of these records as fit into a response. */
  async cells({ tenant, app }: Dataset, table: string, keys: readonly string[]): Promise<RecordCells> {
    const rows = await sql<(Cell & { readonly total: number })[]>`
      select total, tbl as table, pk, field, kind, sub, hlc, value, inc, dec, removed
      from (
        select *, count(*) over () as total,
          sum(octet_length(value) + ${cellBytes}::integer) over (order by pk, field, kind, sub) - octet_length(value) as before_it
        from (
          select cell.* from unnest(${keys}::text[]) with ordinality as asked(pk, position)
          cross join lateral (
            select * from sync.cells
            where tenant_id = ${tenant} and app_id = ${app} and tbl = ${table} and pk = asked.pk
            order by field, kind, sub limit ${mostCells + 1}
          ) as cell
          order by position, field, kind, sub limit ${mostCells + 1}
        ) as found
      ) as sized
      where before_it <= ${pageBytes}
      order by pk, field, kind, sub limit ${mostCells}`;
    return { cells: rows, isCut: (rows[0]?.total ?? 0) > rows.length };
  },

  /** The sums of the counters of a record that did not fit into a response. */
  async sums(
    { tenant, app }: Dataset,
    table: string,
    key: string,
  ): Promise<{ field: string; sum: number }[]> {
    return await sql<{ field: string; sum: number }[]>`
      select field, (sum(inc) - sum(dec))::bigint as sum from (
        select field, max(inc) as inc, max(dec) as dec from sync.cells
        where tenant_id = ${tenant} and app_id = ${app} and tbl = ${table} and pk = ${key} and kind = 'c'
        group by field, split_part(sub, '|', 1), split_part(sub, '|', 2)
      ) as series
      group by field order by field limit 1000`;
  },
});
