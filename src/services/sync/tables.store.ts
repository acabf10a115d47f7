import type { Sql } from '../../db/index.ts';
import type { Dataset } from './dataset.ts';

/** What is stored of a table besides its records. */
export interface StoredTable {
  readonly name: string;
  readonly latest_hlc: string;
  /** Empty while nothing was forgotten. */
  readonly horizon_hlc: string;
}

export const tableStore = (sql: Sql) => ({
  /** All tables of a data set, by name; there are few. */
  async list({ tenant, app }: Dataset): Promise<StoredTable[]> {
    return await sql<StoredTable[]>`
      select tbl as name, latest_hlc, horizon_hlc from sync.tables
      where tenant_id = ${tenant} and app_id = ${app} order by tbl`;
  },

  /** The clock of the database, and the epoch of the data set; null before the first push. */
  async moment({ tenant, app }: Dataset): Promise<{ now: string; epoch: string | null }> {
    const [row] = await sql<[{ now: string; epoch: string | null }]>`
      select clock_timestamp() as now,
        (select epoch from sync.datasets where tenant_id = ${tenant} and app_id = ${app} and clock > 0) as epoch`;
    return row;
  },
});
