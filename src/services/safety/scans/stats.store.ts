import type { Decision, Direction } from '../../../../generated/safety/types.ts';
import type { Sql } from '../../../db/index.ts';

/** Numbers of scans by direction and decision. */
export interface Count {
  readonly direction: Direction;
  readonly decision: Decision;
  readonly n: number;
}

/** A number of scans of a tenant in an hour. */
export interface HourCount extends Count {
  readonly tenant_id: string;
  readonly hour: string;
}

/** What statistics add up: whole hours from the counters, and parts of hours from the scans themselves. */
export interface CountedPeriod {
  readonly tenant: string;
  /** The first whole hour, and the first one after the whole hours; null for no bound. */
  readonly hours: readonly [from: string | null, to: string | null];
  /** Ranges of ids. */
  readonly edges: readonly (readonly [from: string, to: string])[];
}

/** Every statement about the numbers of scans. */
export const statsStore = (sql: Sql) => ({
  /** Adds to the counters, in the order of their keys. */
  async add(counts: readonly HourCount[], slot: number): Promise<void> {
    const sorted = [...counts].sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
    await sql`
      insert into safety.scan_count as existing (tenant_id, hour, direction, decision, slot, n)
      select tenant_id, hour, direction, decision, ${slot}::smallint, n
      from unnest(${sorted.map((one) => one.tenant_id)}::text[], ${sorted.map((one) => one.hour)}::timestamptz[],
        ${sorted.map((one) => one.direction)}::text[], ${sorted.map((one) => one.decision)}::text[],
        ${sorted.map((one) => one.n)}::bigint[]) as given(tenant_id, hour, direction, decision, n)
      on conflict on constraint scan_count_pkey do update set n = existing.n + excluded.n`;
  },

  /** One statement, so that a scan counts either in an hour or in an edge as it was at one moment. */
  async count({ tenant, hours: [from, to], edges }: CountedPeriod): Promise<Count[]> {
    return await sql<Count[]>`
      select direction, decision, sum(n)::bigint as n from (
        select direction, decision, n from safety.scan_count
        where tenant_id = ${tenant}
          ${from === null ? sql`` : sql`and hour >= ${from}`} ${to === null ? sql`` : sql`and hour < ${to}`}
        union all
        select direction, decision, 1 from safety.scan
        join unnest(${edges.map(([first]) => first)}::text[], ${edges.map(([, end]) => end)}::text[]) as edge(first, "end")
          on scan.tenant_id = ${tenant} and scan.id >= edge.first and scan.id < edge."end"
      ) as counted
      group by direction, decision`;
  },

  /** Adds up the slots of hours before this one. Returns how many rows that took, at most `batch`. */
  async merge(before: string, batch: number): Promise<number> {
    const [{ merged }] = await sql<[{ merged: number }]>`
      with gone as (
        delete from safety.scan_count where (tenant_id, hour, direction, decision, slot) in (
          select tenant_id, hour, direction, decision, slot from safety.scan_count
          where slot <> 0 and hour < ${before} order by hour limit ${batch} for update skip locked
        ) returning tenant_id, hour, direction, decision, n
      ), added as (
        insert into safety.scan_count as existing (tenant_id, hour, direction, decision, slot, n)
        select tenant_id, hour, direction, decision, 0, sum(n) from gone group by tenant_id, hour, direction, decision
        on conflict on constraint scan_count_pkey do update set n = existing.n + excluded.n
      )
      select count(*)::integer as merged from gone`;
    return merged;
  },
});

const keyOf = ({ tenant_id, hour, direction, decision }: HourCount) =>
  `${tenant_id} ${hour} ${direction} ${decision}`;
