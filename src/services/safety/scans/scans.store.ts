import type { Decision, Direction, ScanResult } from '../../../../generated/safety/types.ts';
import type { Sql } from '../../../db/index.ts';
import { largeRows } from '../../../db/large-rows.ts';
import { followsPrevious, onePage, type Order, type Window } from '../../../db/lists.ts';

/** The order of scans: ids sort by the millisecond in which they were made. */
export const newestScans = { columns: { id: 'string' }, direction: 'desc' } as const satisfies Order;

export interface ScanFilter {
  readonly direction: Direction | undefined;
  readonly decision: Decision | undefined;
  readonly user: string | undefined;
  readonly profile: string | undefined;
  /** The first id of the period, and the first one after it. */
  readonly fromId: string | undefined;
  readonly toId: string | undefined;
}

/** A scan to store, with its author. */
export interface NewScan {
  readonly result: ScanResult;
  readonly userId: string;
}

interface Row {
  readonly tenant_id: string;
  readonly id: string;
  readonly direction: Direction;
  readonly decision: Decision;
  readonly profile_used: string;
  readonly body: Omit<ScanResult, 'tenant_id' | 'id' | 'direction' | 'decision' | 'profile_used'>;
}

/** Every statement about the results of scans. */
export const scanStore = (sql: Sql) => ({
  async insert(scans: readonly NewScan[]): Promise<void> {
    const column = (of: (scan: NewScan) => string) => scans.map(of);
    await sql`
      insert into safety.scan (tenant_id, id, direction, decision, user_id, profile_used, body)
      select tenant_id, id, direction, decision, user_id, profile_used, body::json
      from unnest(${column(({ result }) => result.tenant_id)}::text[], ${column(({ result }) => result.id)}::text[],
        ${column(({ result }) => result.direction)}::text[], ${column(({ result }) => result.decision)}::text[],
        ${column(({ userId }) => userId)}::text[], ${column(({ result }) => result.profile_used)}::text[],
        ${column(({ result }) => JSON.stringify(bodyOf(result)))}::text[])
        as given(tenant_id, id, direction, decision, user_id, profile_used, body)`;
  },

  async find(tenant: string, id: string): Promise<ScanResult | undefined> {
    const [row] = await sql<Row[]>`
      select ${columns(sql)} from safety.scan where tenant_id = ${tenant} and id = ${id}`;
    return row && resultOf(row);
  },

  /** Lists scans newest first, one more than `limit` when more follow, and where the next page goes on if this one is cut. */
  async list(
    tenant: string,
    filter: ScanFilter,
    window: Window<typeof newestScans>,
  ): Promise<{ rows: ScanResult[]; cut: { id: string } | undefined }> {
    const { direction, decision, user, profile, fromId, toId } = filter;
    const page = sql`
      select ${columns(sql)} from safety.scan
      where tenant_id = ${tenant}
        ${direction === undefined ? sql`` : sql`and direction = ${direction}`}
        ${decision === undefined ? sql`` : sql`and decision = ${decision}`}
        ${decision === undefined || decision === 'allow' ? sql`` : sql`and decision <> 'allow'`}
        ${user === undefined ? sql`` : sql`and user_id = ${user} and user_id <> ''`}
        ${profile === undefined ? sql`` : sql`and profile_used = ${profile}`}
        ${fromId === undefined ? sql`` : sql`and id >= ${fromId}`}
        ${toId === undefined ? sql`` : sql`and id < ${toId}`}
        ${followsPrevious(sql, window)}
      ${onePage(sql, window)}`;
    const size = { of: sql`octet_length(body::text)` };
    const { rows, cut } = await largeRows<Row>(sql, window.order, page, size);
    return { rows: rows.map(resultOf), cut };
  },

  /** Deletes the oldest scans of all tenants, those with ids before this one. */
  async drop(beforeId: string, batch: number): Promise<number> {
    const { count } = await sql`
      delete from safety.scan where (tenant_id, id) in (
        select tenant_id, id from safety.scan where id < ${beforeId} order by id limit ${batch} for update skip locked
      )`;
    return count;
  },
});

const columns = (sql: Sql) => sql`tenant_id, id, direction, decision, profile_used, body`;

function bodyOf({
  tenant_id: _,
  id: __,
  direction: ___,
  decision: ____,
  profile_used: _____,
  ...body
}: ScanResult) {
  return body;
}

const resultOf = ({ body, ...row }: Row): ScanResult => ({ ...row, ...withoutNarrowing, ...body });

/** Scans of earlier versions do not say what was asked to be listed. */
const withoutNarrowing = { detectors: [], min_score: 0 };
