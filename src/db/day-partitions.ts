import type { Database } from './index.ts';
import type { Sql } from './sql.ts';
import type { Sweep } from './sweeps.ts';

/** A table that is partitioned by UTC day, so that old rows are dropped as whole days instead of being deleted one by one. */
export interface DayPartitioned {
  readonly schema: string;
  readonly table: string;
  /**
   * Waits, in a transaction, until no other one inserts into the table or changes its partitions, and keeps it so. Attaching and
   * dropping partitions could deadlock with inserts.
   */
  readonly lock: (sql: Sql) => Promise<void>;
}

/**
 * Every statement about the partitions. The service's migration creates the functions `add_<table>_partition` and
 * `drop_<table>_partitions` in its schema, as the `keys` service does in `0003_usage.sql`. All of them require the table's lock.
 */
const partitionStore = (sql: Sql, { schema, table }: DayPartitioned) => ({
  /** Adds the partitions from yesterday to the day after tomorrow. */
  async addAround(): Promise<void> {
    await sql`
      select ${sql(`${schema}.add_${table}_partition`)}((now() at time zone 'UTC')::date + day)
      from generate_series(-1, 2) as day`;
  },

  async add(days: readonly string[]): Promise<void> {
    await sql`select ${sql(`${schema}.add_${table}_partition`)}(day) from unnest(${[...days]}::text[]::date[]) as day`;
  },

  /** Drops the days whose rows are all older than this. Gives up quickly when a reader holds a lock. */
  async drop(olderThanMs: number): Promise<number> {
    await sql`select set_config('lock_timeout', '2s', true)`;
    const [row] = await sql<[{ dropped: number }]>`
      select ${sql(`${schema}.drop_${table}_partitions`)}(
        now() - ${olderThanMs}::bigint * interval '1 millisecond'
      ) as dropped`;
    return row.dropped;
  },
});

export interface PartitionSweep {
  readonly db: Database;
  readonly partitioned: DayPartitioned;
  /** Milliseconds for which rows are kept, and up to a day longer. */
  readonly retentionMs: number;
}

/** Adds the partitions of the coming days, and drops those of days that are over for longer than the retention. */
export const partitionSweep = ({ db, partitioned, retentionMs }: PartitionSweep): Sweep => ({
  name: `${partitioned.schema}.${partitioned.table}`,
  everyMs: 60 * 60_000,
  batch: 1,
  steps: [
    async () => {
      await db.transaction(async (sql) => {
        await partitioned.lock(sql);
        await partitionStore(sql, partitioned).addAround();
      });
      return 0;
    },
    async () => {
      await db.transaction(async (sql) => {
        await partitioned.lock(sql);
        await partitionStore(sql, partitioned).drop(retentionMs);
      });
      return 0;
    },
  ],
});

/**
 * Runs work that inserts into the table. When that fails because a day has no partition, adds the partitions of the days that
 * `daysOf` returns, as `YYYY-MM-DD`, and runs the work once more. A day without a partition is rare: a clock is far off, or a server
 * slept.
 */
export async function withPartitions<T>(
  db: Database,
  partitioned: DayPartitioned,
  { work, daysOf }: { work: () => Promise<T>; daysOf: (sql: Sql) => Promise<readonly string[]> },
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isMissingPartition(error)) throw error;
    await db.transaction(async (sql) => {
      await partitioned.lock(sql);
      await partitionStore(sql, partitioned).add(await daysOf(sql));
    });
    return await work();
  }
}

/** A row that fits no partition violates the partition constraint. */
const isMissingPartition = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === '23514';
