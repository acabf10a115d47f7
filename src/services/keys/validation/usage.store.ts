import type { Granularity, Outcome, UsageAggregate, UsageRecord } from '../../../../generated/keys/types.ts';
import type { Sql } from '../../../db/index.ts';

/** Which records a list is about. */
export interface UsageFilter {
  readonly tenant: string;
  readonly key: string | undefined;
  readonly outcome: Outcome | undefined;
  /** Inclusive. */
  readonly from: string;
  /** Exclusive. */
  readonly to: string;
  /** The last record of the page before. */
  readonly after: { readonly created_at: string; readonly id: string } | null;
  readonly limit: number;
}

/** Which counts are added up; `key` undefined is the whole tenant. Periods are whole: those that begin before `to` and end after `from`. */
export interface AggregateFilter {
  readonly tenant: string;
  readonly key: string | undefined;
  readonly from: string;
  readonly to: string;
  readonly granularity: Granularity;
}

/** What `date_trunc` calls the periods. */
const units: Record<Granularity, string> = { hourly: 'hour', daily: 'day', monthly: 'month' };

/** Records and hourly counts as the fold left them, and their retention. */
export function usageStore(sql: Sql) {
  return {
    /** Adds the partitions from yesterday to the day after tomorrow. */
    async addPartitions(): Promise<void> {
      await sql`
        select keys.add_usage_partition((now() at time zone 'UTC')::date + day) from generate_series(-1, 2) as day
      `;
    },

    /** Drops the days whose records are all older than this. Gives up quickly where a reader is in the way. */
    async dropPartitions(olderThanMs: number): Promise<number> {
      await sql`select set_config('lock_timeout', '2s', true)`;
      const [row] = await sql<[{ dropped: number }]>`
        select keys.drop_usage_partitions(now() - ${olderThanMs}::bigint * interval '1 millisecond') as dropped
      `;
      return row.dropped;
    },

    /** Deletes hourly counts older than this. */
    async dropHours(olderThanMs: number): Promise<number> {
      const deleted = await sql`
        delete from keys.usage_hourly where hour < now() - ${olderThanMs}::bigint * interval '1 millisecond'
      `;
      return deleted.count;
    },

    /** Deletes the counters of keys that nobody used for two windows. */
    async dropIdleWindows(): Promise<number> {
      const deleted = await sql`
        delete from keys.rate_windows
        where (slot + 21) * sub_ms < extract(epoch from clock_timestamp()) * 1000
      `;
      return deleted.count;
    },

    /** Forgets when it was last said of a key that it is refused. */
    async dropNotices(): Promise<number> {
      const deleted = await sql`delete from keys.rate_notices where minute < now() - interval '1 day'`;
      return deleted.count;
    },

    /** Records, newest first, then by id. One more than `limit` where more follow. */
    async list({ tenant, key, outcome, from, to, after, limit }: UsageFilter): Promise<UsageRecord[]> {
      return await sql<UsageRecord[]>`
        select
          id, key_id, tenant_id, source, outcome, cost, method, endpoint, status_code, latency_ms, ip_address, origin,
          user_agent, created_at
        from keys.usage
        where tenant_id = ${tenant}
          and created_at >= ${from}
          and created_at < ${to}
          ${key === undefined ? sql`` : sql`and key_id = ${key}`}
          ${outcome === undefined ? sql`` : sql`and outcome = ${outcome}`}
          ${
            after === null
              ? sql``
              : sql`and created_at <= ${after.created_at} and (created_at < ${after.created_at} or id > ${after.id})`
          }
        order by created_at desc, id
        limit ${limit + 1}
      `;
    },

    /** Sums by period, oldest first. */
    async aggregate({ tenant, key, from, to, granularity }: AggregateFilter): Promise<UsageAggregate[]> {
      const unit = units[granularity];
      return await sql<UsageAggregate[]>`
        with outcomes as (
          select
            date_trunc(${unit}, hour, 'UTC') as period_start, outcome, sum(count) as count, sum(errors) as errors,
            sum(cost) as cost, sum(latency_sum) as latency_sum, sum(latency_count) as latency_count
          from keys.usage_hourly
          where tenant_id = ${tenant}
            and hour >= date_trunc(${unit}, ${from}::timestamptz, 'UTC')
            and hour < date_trunc(${unit}, ${to}::timestamptz - interval '1 millisecond', 'UTC') + ${`1 ${unit}`}::interval
            ${key === undefined ? sql`` : sql`and key_id = ${key}`}
          group by 1, outcome
        )
        select
          ${key ?? null}::text as key_id, ${tenant}::text as tenant_id, ${granularity}::text as granularity,
          period_start,
          sum(count)::bigint as request_count,
          coalesce(sum(count) filter (where outcome = 'VALID'), 0)::bigint as valid_count,
          coalesce(sum(count) filter (where outcome <> 'VALID'), 0)::bigint as refused_count,
          sum(errors)::bigint as error_count,
          sum(cost)::bigint as cost,
          jsonb_object_agg(outcome, count) as by_outcome,
          (sum(latency_sum) / nullif(sum(latency_count), 0))::double precision as latency_avg_ms
        from outcomes
        group by period_start
        order by period_start
      `;
    },

    /** Which of these keys exist in the tenant. */
    async existing(tenant: string, keys: readonly string[]): Promise<Set<string>> {
      const rows = await sql<{ id: string }[]>`
        select id from keys.keys where tenant_id = ${tenant} and id = any(${keys}::text[]) and deleted_at is null
      `;
      return new Set(rows.map(({ id }) => id));
    },
  };
}
