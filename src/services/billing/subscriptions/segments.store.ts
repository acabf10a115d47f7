import type { Sql } from '../../../db/index.ts';
import type { Segment, SegmentKind } from '../periods/segments.ts';

/** The subscription that segments belong to. */
export interface Owner {
  readonly tenant_id: string;
  readonly id: string;
  readonly app_id: string;
}

interface SegmentRow {
  readonly starts_at: string;
  readonly ends_at: string;
  readonly kind: SegmentKind;
  readonly period_start: string;
  readonly period_end: string;
  readonly window_start: string;
  readonly window_end: string;
  readonly year_start: string | null;
  readonly plan_id: string;
  readonly revision: number;
  readonly base_amount: number;
  readonly base_plan_id: string;
  readonly base_revision: number;
}

/** Every statement about the segments of subscriptions. */
export const segmentStore = (sql: Sql) => ({
  /** The segments of the periods that end after a time, ascending. A pause may outlive its period, which is billed after it. */
  async list({ tenant_id, id }: Owner, after: number): Promise<Segment[]> {
    const rows = await sql<SegmentRow[]>`
      select starts_at, ends_at, kind, period_start, period_end, window_start, window_end, year_start, plan_id, revision,
        base_amount, base_plan_id, base_revision
      from billing.segment
      where tenant_id = ${tenant_id} and subscription_id = ${id} and period_start >= (
        select min(period_start) from billing.segment
        where tenant_id = ${tenant_id} and subscription_id = ${id} and greatest(period_end, ends_at) > ${new Date(after)}
      )
      order by starts_at`;
    return rows.map(segmentOf);
  },

  /**
   * Replaces everything from a time on. A segment that contains the time ends there, and one that begins as before stays, with what it
   * counts. Because a counter refers to its segment, one that an event has entered meanwhile cannot be deleted: the violation of
   * `usage_total_segment` asks to repeat the transaction.
   */
  async replaceFrom({ tenant_id, id, app_id }: Owner, at: number, rest: readonly Segment[]): Promise<void> {
    const from = new Date(at);
    await sql`
      delete from billing.segment
      where tenant_id = ${tenant_id} and subscription_id = ${id} and starts_at >= ${from}
        and starts_at <> all(${rest.map(({ start }) => new Date(start).toISOString())}::text[]::timestamptz[])`;
    await sql`
      update billing.segment set ends_at = ${from}
      where tenant_id = ${tenant_id} and subscription_id = ${id} and starts_at < ${from} and ends_at > ${from}`;
    if (rest.length === 0) return;
    await sql`
      insert into billing.segment ${sql(
        rest.map(({ start, end, kind, period, window, yearStart, plan, base }) => ({
          tenant_id,
          subscription_id: id,
          app_id,
          starts_at: new Date(start),
          ends_at: new Date(end),
          kind,
          period_start: new Date(period.start),
          period_end: new Date(period.end),
          window_start: new Date(window.start),
          window_end: new Date(window.end),
          year_start: yearStart === null ? null : new Date(yearStart),
          plan_id: plan.planId,
          revision: plan.revision,
          base_amount: String(base.amount),
          base_plan_id: base.planId,
          base_revision: base.revision,
        })),
      )}
      on conflict on constraint segment_pkey do update
      set ends_at = excluded.ends_at, kind = excluded.kind, period_start = excluded.period_start, period_end = excluded.period_end,
        window_start = excluded.window_start, window_end = excluded.window_end, year_start = excluded.year_start,
        plan_id = excluded.plan_id, revision = excluded.revision, base_amount = excluded.base_amount,
        base_plan_id = excluded.base_plan_id, base_revision = excluded.base_revision`;
  },

  /** Makes the segments from a time on parts of a trial, which nobody pays. */
  async makeTrial({ tenant_id, id }: Owner, at: number): Promise<void> {
    await sql`
      update billing.segment set kind = 'trial'
      where tenant_id = ${tenant_id} and subscription_id = ${id} and starts_at >= ${new Date(at)}`;
  },
});

const segmentOf = (row: SegmentRow): Segment => ({
  start: Date.parse(row.starts_at),
  end: Date.parse(row.ends_at),
  kind: row.kind,
  period: { start: Date.parse(row.period_start), end: Date.parse(row.period_end) },
  window: { start: Date.parse(row.window_start), end: Date.parse(row.window_end) },
  yearStart: row.year_start === null ? null : Date.parse(row.year_start),
  plan: { planId: row.plan_id, revision: row.revision },
  base: { planId: row.base_plan_id, revision: row.base_revision, amount: BigInt(row.base_amount) },
});
