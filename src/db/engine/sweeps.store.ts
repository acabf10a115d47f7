import type { Sql } from '../sql.ts';

export interface Taken {
  /** The names of the sweeps that run under the lease from now on. */
  readonly taken: readonly string[];
  /** Milliseconds until the next of the other free ones is due; null when there is none. */
  readonly waitMs: number | null;
}

/** Every statement about sweeps. Times follow the database's clock. */
export const sweepStore = (sql: Sql) => ({
  /** Stores the sweeps that are not known yet, due at once. */
  async register(names: readonly string[]): Promise<void> {
    await sql`insert into jobs.sweep (name) select unnest(${[...names]}::text[]) on conflict do nothing`;
  },

  /**
   * Takes those that are due and free. One that runs under this very lease counts as free: the caller names only sweeps that it does not
   * run, so the answer to an earlier call was lost. Of processes that ask at once, the first one to write gets a sweep.
   */
  async take(names: readonly string[], leaseId: string): Promise<Taken> {
    const [row] = await sql<[Taken]>`
      with free as materialized (
        select name, lease_id, due_at from jobs.sweep
        where name = any(${[...names]}::text[])
          and (lease_id is null or lease_id = ${leaseId} or not exists (select from jobs.lease where id = sweep.lease_id))
      ), taken as (
        update jobs.sweep set lease_id = ${leaseId} from free
        where sweep.name = free.name and sweep.lease_id is not distinct from free.lease_id
          and sweep.due_at <= statement_timestamp() and exists (select from jobs.lease where id = ${leaseId})
        returning sweep.name
      )
      select coalesce((select array_agg(name) from taken), '{}') as taken, (
        select greatest(extract(epoch from min(due_at) - statement_timestamp()) * 1000, 0)::float8 from free
        where due_at > statement_timestamp()
      ) as "waitMs"`;
    return row;
  },

  /** Ends a run. Does nothing when the lease was lost meanwhile. */
  async free(name: string, leaseId: string, dueInMs: number): Promise<void> {
    await sql`
      update jobs.sweep set lease_id = null, due_at = statement_timestamp() + ${dueInMs}::float8 * interval '1 millisecond'
      where name = ${name} and lease_id = ${leaseId}`;
  },
});
