import type { Fragment, Sql } from '../../../db/index.ts';
import type { NewUsage } from './new-usage.ts';

/** The id of an event that was sent, and of the event that is stored for it: itself, or an earlier one with its key. */
export interface StoredAs {
  readonly sent: string;
  readonly id: string;
}

/** The statements by which usage is taken in. Each covers all events of a group. */
export const ingestStore = (sql: Sql) => ({
  /**
   * Stores events, counts those that a segment covers, and returns the ids of the events that it stored: the others have an id or a key
   * that is taken. Only what is stored here is counted here, so that an event counts once however often it is sent. The counters are
   * updated in one order by all processes, and so are the keys taken, provided that the events are given in the order of their keys.
   */
  async insert(events: readonly NewUsage[]): Promise<string[]> {
    const rows = await sql<{ id: string }[]>`
      with event as (
        insert into billing.usage_event (
          tenant_id, id, app_id, feature_key, quantity, idempotency_key, metadata, status, happened_at, sent_timestamp, accepted_at,
          subscription_id, segment_start, period_start
        )
        select given.tenant_id, given.id, given.app_id, given.feature_key, given.quantity::numeric, given.idempotency_key, given.metadata,
          case when segment.subscription_id is null then 'buffered' else 'counted' end,
          given.happened_at::timestamptz, given.sent_timestamp::timestamptz, given.accepted_at::timestamptz,
          segment.subscription_id, segment.starts_at, segment.period_start
        from ${rowsOf(sql, events)}
        left join lateral (
          select subscription_id, starts_at, period_start
          from (
            select subscription_id, starts_at, ends_at, kind, period_start from billing.segment
            where tenant_id = given.tenant_id and app_id = given.app_id and starts_at <= given.happened_at::timestamptz
            order by starts_at desc limit 1
          ) as latest
          where ends_at > given.happened_at::timestamptz and kind <> 'paused'
        ) as segment on true
        on conflict do nothing
        returning tenant_id, id, subscription_id, feature_key, segment_start, happened_at, quantity
      ),
      total as (
        insert into billing.usage_total as total
          (tenant_id, subscription_id, feature_key, segment_start, window_start, quantity, events)
        select tenant_id, subscription_id, feature_key, segment_start,
          (
            select window_start from billing.segment
            where segment.tenant_id = counted.tenant_id and segment.subscription_id = counted.subscription_id
              and starts_at = segment_start
          ),
          quantity, events
        from (
          select tenant_id, subscription_id, feature_key, segment_start, sum(quantity) as quantity, count(*) as events
          from event where subscription_id is not null
          group by tenant_id, subscription_id, feature_key, segment_start
        ) as counted
        order by tenant_id, subscription_id, feature_key, segment_start
        on conflict (tenant_id, subscription_id, feature_key, segment_start) do update
        set quantity = total.quantity + excluded.quantity, events = total.events + excluded.events
      ),
      by_day as (
        insert into billing.usage_day as by_day (tenant_id, subscription_id, feature_key, day, quantity, events)
        select tenant_id, subscription_id, feature_key, (happened_at at time zone 'UTC')::date as day, sum(quantity), count(*)
        from event where subscription_id is not null
        group by tenant_id, subscription_id, feature_key, day
        order by tenant_id, subscription_id, feature_key, day
        on conflict (tenant_id, subscription_id, feature_key, day) do update
        set quantity = by_day.quantity + excluded.quantity, events = by_day.events + excluded.events
      )
      select id from event`;
    return rows.map(({ id }) => id);
  },

  /** What is stored for events whose id or key is taken. */
  async find(events: readonly NewUsage[]): Promise<StoredAs[]> {
    const of = (value: (event: NewUsage) => string | null) => events.map(value);
    return await sql<StoredAs[]>`
      select given.id as sent, stored.id
      from unnest(
        ${of(({ tenant }) => tenant)}::text[], ${of(({ app }) => app)}::text[], ${of(({ id }) => id)}::text[],
        ${of(({ idempotencyKey }) => idempotencyKey)}::text[]
      ) as given(tenant_id, app_id, id, idempotency_key)
      cross join lateral (
        select id from billing.usage_event as own where own.tenant_id = given.tenant_id and own.id = given.id
        union
        select id from billing.usage_event as keyed
        where keyed.tenant_id = given.tenant_id and keyed.app_id = given.app_id and keyed.idempotency_key = given.idempotency_key
      ) as stored`;
  },
});

function rowsOf(sql: Sql, events: readonly NewUsage[]): Fragment {
  const of = (value: (event: NewUsage) => string | null) => events.map(value);
  return sql`
    rows from (
      unnest(
        ${of(({ tenant }) => tenant)}::text[], ${of(({ id }) => id)}::text[], ${of(({ app }) => app)}::text[],
        ${of(({ featureKey }) => featureKey)}::text[], ${of(({ quantity }) => quantity)}::text[],
        ${of(({ idempotencyKey }) => idempotencyKey)}::text[], ${of(({ happenedAt }) => happenedAt)}::text[],
        ${of(({ sentTimestamp }) => sentTimestamp)}::text[], ${of(({ acceptedAt }) => acceptedAt)}::text[]
      ),
      jsonb_array_elements(${`[${events.map(({ metadata }) => metadata).join(',')}]`}::text::jsonb)
    ) as given(
      tenant_id, id, app_id, feature_key, quantity, idempotency_key, happened_at, sent_timestamp, accepted_at, metadata
    )`;
}
