import type { Sql } from '../sql.ts';

export interface Letter {
  readonly tenant_id: string;
  readonly id: string;
}

export interface Replayed {
  readonly tenant_id: string;
  readonly app_id: string;
  readonly dlq_id: string;
  readonly id: string;
  readonly queue: string;
}

/** Every statement by which dead letters leave. */
export const deadLetterStore = (sql: Sql) => ({
  /**
   * Makes a new job of each dead letter and deletes the letter, in one statement: of two replays at once only one finds it. The unique
   * key stays with the failed job, which stays in the history.
   */
  async replay(letters: readonly (Letter & { readonly job_id: string })[]): Promise<Replayed[]> {
    return await sql<Replayed[]>`
      with letter as (
        delete from jobs.dlq using unnest(
          ${letters.map(({ tenant_id }) => tenant_id)}::text[], ${letters.map(({ id }) => id)}::text[],
          ${letters.map(({ job_id }) => job_id)}::text[]
        ) as given(tenant_id, id, new_id)
        where dlq.tenant_id = given.tenant_id and dlq.id = given.id
        returning dlq.*, given.new_id
      ),
      made as (
        insert into jobs.job (
          tenant_id, id, app_id, name, queue, rank, payload, tags, max_attempts, run_at, timeout_ms, backoff_type, backoff_delay_ms,
          backoff_max_ms, origin_id
        )
        select tenant_id, new_id, app_id, job_name, queue, rank, payload, tags, max_attempts, statement_timestamp(), timeout_ms,
          backoff_type, backoff_delay_ms, backoff_max_ms, job_id
        from letter
      )
      select tenant_id, app_id, id as dlq_id, new_id as id, queue from letter`;
  },

  async deleteOfJob(tenant: string, jobId: string): Promise<void> {
    await sql`delete from jobs.dlq where tenant_id = ${tenant} and job_id = ${jobId}`;
  },

  /** Deletes up to `most` letters that are older than this, of one queue or of all. Returns how many. */
  async purge(filter: {
    readonly tenant?: string | undefined;
    readonly app?: string | undefined;
    readonly queue?: string | undefined;
    readonly olderThanMs: number;
    readonly most: number;
  }): Promise<number> {
    const { tenant, app, queue, olderThanMs, most } = filter;
    const { count } = await sql`
      delete from jobs.dlq where (tenant_id, id) in (
        select tenant_id, id from jobs.dlq
        where failed_at <= statement_timestamp() - ${olderThanMs}::float8 * interval '1 millisecond'
          ${tenant === undefined ? sql`` : sql`and tenant_id = ${tenant}`}
          ${app === undefined ? sql`` : sql`and app_id = ${app}`}
          ${queue === undefined ? sql`` : sql`and queue = ${queue}`}
        limit ${most}
        for update skip locked
      )`;
    return count;
  },
});
