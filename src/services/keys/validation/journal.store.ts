import type { Outcome, UsageRecord } from '../../../../generated/keys/types.ts';
import type { DayPartitioned } from '../../../db/day-partitions.ts';
import type { Sql } from '../../../db/index.ts';

/** Refusals that were counted instead of recorded: their number for one key and outcome in one UTC hour. */
export interface RefusalCount {
  readonly tenant_id: string;
  readonly key_id: string;
  readonly hour: string;
  readonly outcome: Outcome;
  readonly count: number;
}

/** A key that was refused because of its rate, for an event now. `refused` counts refusals since the last event. */
export interface LimitedKey {
  readonly tenant_id: string;
  readonly app_id: string;
  readonly key_id: string;
  readonly refused: number;
}

/**
 * Limits of one fold statement: rows of the journal and their stored bytes; the first row is always included. Frequent keys are
 * added up once per statement, so few large statements are cheaper than many small ones. The byte limit, at about 100 per
 * record, keeps a statement within a second or two.
 */
const foldRows = 2_000;
const foldBytes = 4 * 1024 * 1024;

/** The journal of answered validations and reports, and the fold that empties it. */
export function journalStore(sql: Sql) {
  return {
    /**
     * Writes one row for everything answered together. `relaxed` does not wait for the disk: a crash of the database, but not
     * of this process, may then lose the last moments.
     */
    async append(
      records: readonly UsageRecord[],
      counts: readonly RefusalCount[],
      relaxed: boolean,
    ): Promise<void> {
      const rows = JSON.stringify(records);
      const counted = JSON.stringify(counts);
      if (relaxed) {
        await sql`
          insert into keys.usage_journal (rows, counts)
          select ${rows}::text::json, ${counted}::text::json
          from set_config('synchronous_commit', 'off', true)
        `;
      } else {
        await sql`insert into keys.usage_journal (rows, counts) values (${rows}::text::json, ${counted}::text::json)`;
      }
    },

    /** Returns the newest row in the journal, or null when it is empty. */
    async newest(): Promise<number | null> {
      const [row] = await sql<[{ seq: number | null }]>`select max(seq) as seq from keys.usage_journal`;
      return row.seq;
    },

    /** Waits until this transaction is the only one that folds or changes partitions. */
    async lock(): Promise<void> {
      await sql`select pg_advisory_xact_lock(hashtextextended('keys.usage_journal', 0))`;
    },

    /** Does the same without waiting. Returns false when another transaction holds the lock. */
    async tryLock(): Promise<boolean> {
      const [row] = await sql<[{ locked: boolean }]>`
        select pg_try_advisory_xact_lock(hashtextextended('keys.usage_journal', 0)) as locked
      `;
      return row.locked;
    },

    /**
     * Moves the oldest rows of the journal, none newer than `upTo`, into the records, the hourly counts and `last_used_at`. It
     * is one statement, so each row is moved exactly once. It skips repeated ids and adds up only inserted rows. Returns
     * whether more rows may be left, and which keys were refused because of their rate. Requires the lock: two concurrent folds
     * could deadlock.
     */
    async fold(upTo: number): Promise<{ more: boolean; limited: LimitedKey[] }> {
      const [folded] = await sql<[{ more: boolean; limited: LimitedKey[] }]>`
        with taken as (
          delete from keys.usage_journal
          where seq in (
            select seq
            from (
              select seq, sum(pg_column_size(rows)) over before as bytes_before
              from (
                select seq, rows from keys.usage_journal where seq <= ${upTo} order by seq limit ${foldRows}
              ) as oldest
              window before as (order by seq rows between unbounded preceding and 1 preceding)
            ) as sized
            where coalesce(bytes_before, 0) < ${foldBytes}
          )
          returning seq, rows, counts
        ),
        recorded as (
          insert into keys.usage (
            id, key_id, tenant_id, source, outcome, cost, method, endpoint, status_code, latency_ms, ip_address, origin,
            user_agent, created_at
          )
          select
            id, key_id, tenant_id, source, outcome, cost, method, endpoint, status_code, latency_ms, ip_address, origin,
            user_agent, created_at
          from taken
          cross join lateral json_to_recordset(taken.rows) as record(
            id text, key_id text, tenant_id text, source text, outcome text, cost integer, method text, endpoint text,
            status_code integer, latency_ms integer, ip_address text, origin text, user_agent text, created_at timestamptz
          )
          on conflict (tenant_id, created_at, id) do nothing
          returning tenant_id, key_id, outcome, cost, status_code, latency_ms, created_at
        ),
        added as (
          select
            tenant_id, key_id, date_trunc('hour', created_at, 'UTC') as hour, outcome, count(*) as count,
            count(*) filter (where status_code >= 400) as errors, sum(cost) as cost,
            coalesce(sum(latency_ms), 0) as latency_sum, count(latency_ms) as latency_count
          from recorded
          group by tenant_id, key_id, hour, outcome
          union all
          select tenant_id, key_id, hour, outcome, count, 0, 0, 0, 0
          from taken
          cross join lateral json_to_recordset(taken.counts) as counted(
            tenant_id text, key_id text, hour timestamptz, outcome text, count bigint
          )
        ),
        hourly as (
          insert into keys.usage_hourly as hourly (
            tenant_id, key_id, hour, outcome, count, errors, cost, latency_sum, latency_count
          )
          select
            tenant_id, key_id, hour, outcome, sum(count), sum(errors), sum(cost), sum(latency_sum), sum(latency_count)
          from added
          group by tenant_id, key_id, hour, outcome
          on conflict on constraint usage_hourly_pkey do update set
            count = hourly.count + excluded.count,
            errors = hourly.errors + excluded.errors,
            cost = hourly.cost + excluded.cost,
            latency_sum = hourly.latency_sum + excluded.latency_sum,
            latency_count = hourly.latency_count + excluded.latency_count
        ),
        used as (
          select tenant_id, key_id, max(created_at) as at
          from recorded
          where outcome = 'VALID'
          group by tenant_id, key_id
        ),
        -- In the order of the primary key, so as not to cross whoever else locks several keys.
        locked as (
          select keys.tenant_id, keys.id, used.at
          from used
          join keys.keys on keys.tenant_id = used.tenant_id and keys.id = used.key_id
          where keys.last_used_at is null or keys.last_used_at < used.at
          order by keys.tenant_id, keys.id
          for no key update of keys
        ),
        raised as (
          update keys.keys
          set last_used_at = locked.at
          from locked
          where keys.tenant_id = locked.tenant_id and keys.id = locked.id
        ),
        -- At most one notice for each key and minute; what is refused between two is told by the second.
        notices as (
          insert into keys.rate_notices as notice (tenant_id, key_id, minute, pending, told)
          select tenant_id, key_id, date_trunc('minute', now()), 0, sum(count)
          from added
          where outcome = 'RATE_LIMITED'
          group by tenant_id, key_id
          on conflict on constraint rate_notices_pkey do update set
            minute = excluded.minute,
            told = case when notice.minute < excluded.minute then notice.pending + excluded.told else 0 end,
            pending = case when notice.minute < excluded.minute then 0 else notice.pending + excluded.told end
          returning tenant_id, key_id, told
        )
        select
          exists (
            select from keys.usage_journal where seq <= ${upTo} and seq > (select max(seq) from taken)
          ) as more,
          (
            select coalesce(
              json_agg(json_build_object(
                'tenant_id', notices.tenant_id, 'app_id', keys.app_id, 'key_id', notices.key_id, 'refused', notices.told
              )),
              '[]'
            )
            from notices
            join keys.keys on keys.tenant_id = notices.tenant_id and keys.id = notices.key_id
            where notices.told > 0
          ) as limited
      `;
      return folded;
    },

    /** Returns all UTC days that occur in rows of the journal, as `YYYY-MM-DD`. */
    async days(): Promise<string[]> {
      const rows = await sql<{ day: string }[]>`
        select distinct (record.created_at at time zone 'UTC')::date::text as day
        from keys.usage_journal
        cross join lateral json_to_recordset(usage_journal.rows) as record(created_at timestamptz)
      `;
      return rows.map(({ day }) => day);
    },
  };
}

/** The usage records, into which only the fold inserts. */
export const usagePartitions: DayPartitioned = {
  schema: 'keys',
  table: 'usage',
  lock: (sql) => journalStore(sql).lock(),
};
