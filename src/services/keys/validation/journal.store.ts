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

/** The journal of answered validations and reports, which the fold empties. */
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
