import type { Sql } from '../../../db/index.ts';

/** A tenant in an app, in whose segments events are placed. */
export interface Place {
  readonly tenant_id: string;
  readonly app_id: string;
}

/** The statement that counts events which came before a segment covered them. */
export const placingStore = (sql: Sql) => ({
  /**
   * Counts the buffered events that a segment covers, at most `most` of them. Called in each transaction that inserts segments, and again
   * later for those that came while it was committed. Returns how many were counted.
   */
  async place({ tenant_id, app_id }: Place, most = 1_000_000): Promise<number> {
    const [{ placed }] = await sql<[{ placed: number }]>`
      with waiting as (
        select tenant_id, id, happened_at from billing.usage_event
        where tenant_id = ${tenant_id} and app_id = ${app_id} and status = 'buffered'
        order by happened_at limit ${most}
        for no key update skip locked
      ),
      event as (
        update billing.usage_event as event
        set status = 'counted', subscription_id = segment.subscription_id, segment_start = segment.starts_at,
          period_start = segment.period_start
        from waiting cross join lateral (
          select subscription_id, starts_at, ends_at, kind, period_start, window_start from billing.segment
          where segment.tenant_id = ${tenant_id} and app_id = ${app_id} and starts_at <= waiting.happened_at
          order by starts_at desc limit 1
        ) as segment
        where event.tenant_id = waiting.tenant_id and event.id = waiting.id
          and segment.ends_at > waiting.happened_at and segment.kind <> 'paused'
        returning event.tenant_id, event.subscription_id, event.feature_key, event.segment_start, segment.window_start,
          (event.happened_at at time zone 'UTC')::date as day, event.quantity
      ),
      total as (
        insert into billing.usage_total as total
          (tenant_id, subscription_id, feature_key, segment_start, window_start, quantity, events)
        select tenant_id, subscription_id, feature_key, segment_start, window_start, sum(quantity), count(*)
        from event group by tenant_id, subscription_id, feature_key, segment_start, window_start
        order by tenant_id, subscription_id, feature_key, segment_start
        on conflict (tenant_id, subscription_id, feature_key, segment_start) do update
        set quantity = total.quantity + excluded.quantity, events = total.events + excluded.events
      ),
      dayly as (
        insert into billing.usage_day as by_day (tenant_id, subscription_id, feature_key, day, quantity, events)
        select tenant_id, subscription_id, feature_key, day, sum(quantity), count(*)
        from event group by tenant_id, subscription_id, feature_key, day
        order by tenant_id, subscription_id, feature_key, day
        on conflict (tenant_id, subscription_id, feature_key, day) do update
        set quantity = by_day.quantity + excluded.quantity, events = by_day.events + excluded.events
      )
      select count(*)::integer as placed from event`;
    return placed;
  },
});
