import type { Cell, CellKind } from '../../../../sdk/src/sync/cells.ts';
import { givenTexts } from '../../../db/given.ts';
import type { Sql } from '../../../db/index.ts';
import type { Dataset } from '../dataset.ts';
import { cellBytes } from '../limits.ts';
import type { Life } from './watermarks.ts';

/** Which cells to read. */
export interface Range {
  /** The tables; undefined for all. */
  readonly tables: readonly string[] | undefined;
  /** Cells that arrived after this stamp. */
  readonly after: bigint;
  readonly limit: number;
  /** The bytes of values at which the page ends. */
  readonly bytes: number;
}

export interface ArrivedCell {
  readonly cell: Cell;
  readonly arrival: bigint;
}

export interface CellPage {
  /** Undefined before the first push. */
  readonly life: Life | undefined;
  /** In the order of their arrival. */
  readonly cells: readonly ArrivedCell[];
  readonly hasMore: boolean;
}

interface Row {
  readonly clock: string;
  readonly epoch: string;
  readonly horizon: string;
  readonly total: number | null;
  readonly table: string;
  readonly pk: string;
  readonly field: string;
  readonly kind: CellKind;
  readonly sub: string;
  readonly hlc: string;
  readonly value: string;
  readonly inc: number;
  readonly dec: number;
  readonly removed: string;
  readonly arrival: string;
}

export const pageStore = (sql: Sql) => ({
  /** Reads a page and what its position is compared with in one statement, which sees one moment. */
  async read({ tenant, app }: Dataset, { tables, after, limit, bytes }: Range): Promise<CellPage> {
    const named = tables === undefined ? null : tables;
    const rows = await sql<Row[]>`
      select data.clock::text, data.epoch, behind.horizon::text, total, tbl as table, pk, field, kind, sub, hlc, value, inc, dec,
        removed, arrival::text
      from sync.datasets as data
      cross join lateral (
        select coalesce(max(horizon_arrival), 0) as horizon from sync.tables
        where tenant_id = ${tenant} and app_id = ${app} and (${named}::text[] is null or tbl = any(${named}::text[]))
      ) as behind
      left join sync.page(
        ${tenant}, ${app}, ${named}::text[], ${String(after)}::bigint, ${limit}, ${bytes}, ${cellBytes}
      ) as page on true
      where data.tenant_id = ${tenant} and data.app_id = ${app}
      order by page.arrival`;
    const [first] = rows;
    if (first === undefined || first.clock === '0') return { life: undefined, cells: [], hasMore: false };
    const { clock, epoch, horizon } = first;
    const life = { clock: BigInt(clock), epoch, horizon: BigInt(horizon) };
    if (first.total === null) return { life, cells: [], hasMore: false };
    const cells = rows.map(({ arrival, ...cell }) => ({ cell, arrival: BigInt(arrival) }));
    return { life, cells, hasMore: first.total > cells.length };
  },

  /** The latest arrival stamps of data sets, in their order; undefined for one that has none. */
  async clocks(
    datasets: readonly Dataset[],
  ): Promise<readonly (Pick<Life, 'clock' | 'epoch'> | undefined)[]> {
    const [tenants, apps] = [datasets.map(({ tenant }) => tenant), datasets.map(({ app }) => app)];
    const rows = await sql<{ clock: string | null; epoch: string | null }[]>`
      select clock::text, epoch
      from ${givenTexts(sql, tenants, apps)} with ordinality as asked(tenant_id, app_id, position)
      left join sync.datasets using (tenant_id, app_id)
      order by position`;
    return rows.map(({ clock, epoch }) =>
      clock === null || epoch === null || clock === '0' ? undefined : { clock: BigInt(clock), epoch },
    );
  },
});
