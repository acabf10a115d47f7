import type { Sql } from '../../../db/index.ts';
import type { Dataset } from '../dataset.ts';

/** What was forgotten of a table. */
export interface Forgotten {
  readonly table: string;
  readonly count: number;
  /** The latest clock reading of it. */
  readonly horizon_hlc: string;
}

export const forgettingStore = (sql: Sql) => ({
  /** The latest stamp that is at least so old, by the clock of the database. */
  async stampBefore(ageMs: number): Promise<string> {
    const [row] = await sql<[{ stamp: string }]>`
      select ((floor(extract(epoch from clock_timestamp()) * 1000)::bigint - ${ageMs}::bigint) << 16)::text as stamp`;
    return row.stamp;
  },

  /** The data set with the oldest deletion that arrived up to this stamp. */
  async next(stamp: string): Promise<Dataset | undefined> {
    const [row] = await sql<Dataset[]>`
      select tenant_id as tenant, app_id as app from sync.cells
      where (kind = 't' or removed <> '') and arrival <= ${stamp}::bigint
      order by arrival limit 1`;
    return row;
  },

  /** Holds a data set, so that nothing arrives meanwhile. */
  async lock({ tenant, app }: Dataset): Promise<void> {
    await sql`select from sync.datasets where tenant_id = ${tenant} and app_id = ${app} for update`;
  },

  /** Forgets the oldest deletions, and remembers how far: whoever has not heard of these must begin again. */
  async forget({ tenant, app }: Dataset, stamp: string, batch: number): Promise<Forgotten[]> {
    return await sql<Forgotten[]>`
      with due as materialized (
        select ctid as place from sync.cells
        where tenant_id = ${tenant} and app_id = ${app} and (kind = 't' or removed <> '') and arrival <= ${stamp}::bigint
        order by arrival limit ${batch}
      ), gone as (
        delete from sync.cells as cell where ctid = any(array(select place from due))
        returning cell.tbl, cell.pk, cell.kind, cell.hlc, cell.arrival
      ), forgotten as (
        delete from sync.tombstones as deletion using gone
        where gone.kind = 't' and deletion.tenant_id = ${tenant} and deletion.app_id = ${app} and deletion.tbl = gone.tbl
          and deletion.pk = gone.pk
      ), behind as (
        select tbl, count(*) as count, max(arrival) as arrival, max(hlc) as hlc from gone group by tbl
      )
      update sync.tables as named
      set horizon_arrival = greatest(horizon_arrival, behind.arrival), horizon_hlc = greatest(horizon_hlc, behind.hlc)
      from behind
      where named.tenant_id = ${tenant} and named.app_id = ${app} and named.tbl = behind.tbl
      returning named.tbl as table, behind.count, behind.hlc as horizon_hlc`;
  },

  /** Begins a new life of all data sets: no watermark of an earlier one is worth anything. */
  async newEpochs(): Promise<number> {
    const { count } = await sql`
      update sync.datasets
      set epoch = substr(md5(random()::text || clock_timestamp()::text || tenant_id || app_id), 1, 8)`;
    return count;
  },
});
