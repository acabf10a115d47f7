import type { Granularity, Outcome, UsageAggregate, UsageRecord } from '../../../../generated/keys/types.ts';
import type { Sql } from '../../../db/index.ts';
import { followsPrevious, onePage, type Window } from '../../../db/lists.ts';

/** Selects the records of a list. */
export interface UsageFilter {
  readonly key: string | undefined;
  readonly outcome: Outcome | undefined;
  /** Inclusive. */
  readonly from: string;
  /** Exclusive. */
  readonly to: string;
}

/**
 * Selects the counts to add up. An undefined `key` means the whole tenant. Periods are whole: those that begin before `to` and
 * end after `from`.
 */
export interface AggregateFilter {
  readonly tenant: string;
  readonly key: string | undefined;
  readonly from: string;
  readonly to: string;
  readonly granularity: Granularity;
}

/** The names of the periods in `date_trunc`. */
const units: Record<Granularity, string> = { hourly: 'hour', daily: 'day', monthly: 'month' };

/** Records and hourly counts as the fold stored them, and their retention. */
export function usageStore(sql: Sql) {
  return {
    /** Deletes hourly counts older than this. */
    async dropHours(olderThanMs: number): Promise<number> {
      const deleted = await sql`
        delete from keys.usage_hourly where hour < now() - ${olderThanMs}::bigint * interval '1 millisecond'
      `;
      return deleted.count;
    },

    /** Deletes the times of the last events about refused keys. */
    async dropNotices(): Promise<number> {
      const deleted = await sql`delete from keys.rate_notices where minute < now() - interval '1 day'`;
      return deleted.count;
    },

    /** Returns records newest first, then by id, and one more than `limit` when more follow. */
    async list(
      tenant: string,
      { key, outcome, from, to }: UsageFilter,
      window: Window,
    ): Promise<UsageRecord[]> {
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
          ${followsPrevious(sql, window)}
        ${onePage(sql, window)}
      `;
    },

    /** Returns sums by period, oldest first. */
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

    /** Returns which of these keys exist in the tenant. */
    async existing(tenant: string, keys: readonly string[]): Promise<Set<string>> {
      const rows = await sql<{ id: string }[]>`
        select id from keys.keys where tenant_id = ${tenant} and id = any(${keys}::text[]) and deleted_at is null
      `;
      return new Set(rows.map(({ id }) => id));
    },
  };
}
