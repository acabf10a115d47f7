import type { Sql } from '../../../db/index.ts';

/** A tenant in an app, in whose segments events are placed. */
export interface Place {
  readonly tenant_id: string;
  readonly app_id: string;
}

/** The most events that one statement counts. It ends long before the database abandons it. */
const mostTogether = 5_000;

/** The statement that counts events which came before a segment covered them. */
export const placingStore = (sql: Sql) => ({
  /**
   * Counts the buffered events that a segment covers, however many they are. Called in each transaction that inserts segments, and again
   * later for those that came while it was committed.
   */
  async placeAll(place: Place, most = mostTogether): Promise<void> {
    while ((await this.place(place, most)) === most);
  },

  /** Counts at most `most` of the buffered events that a segment covers, and returns how many were counted. */
  async place({ tenant_id, app_id }: Place, most: number): Promise<number> {
    const [{ placed }] = await sql<[{ placed: number }]>`
      with covered as (
        select event.tenant_id, event.id, segment.subscription_id, segment.starts_at, segment.period_start, segment.window_start
        from billing.segment join billing.usage_event as event
          on event.tenant_id = segment.tenant_id and event.app_id = segment.app_id and event.status = 'buffered'
          and event.happened_at >= segment.starts_at and event.happened_at < segment.ends_at
        where segment.tenant_id = ${tenant_id} and segment.app_id = ${app_id} and segment.kind <> 'paused'
        limit ${most}
        for no key update of event skip locked
      ),
      event as (
        update billing.usage_event as event
        set status = 'counted', subscription_id = covered.subscription_id, segment_start = covered.starts_at,
          period_start = covered.period_start
        from covered
        where event.tenant_id = covered.tenant_id and event.id = covered.id
        returning event.tenant_id, event.subscription_id, event.feature_key, event.segment_start, covered.window_start,
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
      daily as (
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

  /** Where events came lately that no segment covered when they came. */
  async waiting(since: number, most: number): Promise<Place[]> {
    return await sql<Place[]>`
      select distinct tenant_id, app_id from (
        select tenant_id, app_id from billing.usage_event
        where status = 'buffered' and accepted_at > ${new Date(since)}
        order by accepted_at desc limit ${most}
      ) as latest`;
  },
});
