import type { Sql } from '../sql.ts';
import { freed, history, lost } from './settle.store.ts';
import type { JobState } from './job.ts';

/** A job of a tenant. */
export interface Named {
  readonly tenant_id: string;
  readonly app_id: string;
  readonly id: string;
}

/** Every statement by which people, not workers, change jobs. They run in the caller's transaction, next to the caller's event. */
export const jobStore = (sql: Sql) => ({
  /** The state of a job, live or ended; undefined when there is none. */
  async state(id: string): Promise<(Named & { state: JobState; queue: string }) | undefined> {
    const [row] = await sql<(Named & { state: JobState; queue: string })[]>`
      select tenant_id, app_id, id, state, queue from jobs.job where id = ${id}
      union all
      select tenant_id, app_id, id, state, queue from jobs.job_done where id = ${id}
      limit 1`;
    return row;
  },

  /** Cancels those of these jobs that wait. Returns them. A job that is being claimed is either cancelled and never runs, or runs. */
  async cancel(
    jobs: readonly Pick<Named, 'tenant_id' | 'id'>[],
  ): Promise<(Named & { name: string; queue: string })[]> {
    return await sql<(Named & { name: string; queue: string })[]>`
      with waiting as materialized (
        select job.tenant_id, job.id from jobs.job join unnest(
          ${jobs.map(({ tenant_id }) => tenant_id)}::text[], ${jobs.map(({ id }) => id)}::text[]
        ) as given(tenant_id, id) on job.tenant_id = given.tenant_id and job.id = given.id
        where state in ('pending', 'retrying')
        order by job.tenant_id, job.id for update of job
      ),
      ended as (
        delete from jobs.job using waiting
        where job.tenant_id = waiting.tenant_id and job.id = waiting.id and state in ('pending', 'retrying')
        returning job.*
      ),
      ${freed(sql)}
      insert into jobs.job_done (${history(sql)}, state, attempt, lost_count, last_error)
      select ${history(sql)}, 'cancelled', attempt, lost_count, last_error from ended
      returning tenant_id, app_id, id, name, queue`;
  },

  /** Cancels a job that runs; what its worker reports no longer counts. Returns whether it ran. */
  async abort(tenant: string, id: string): Promise<boolean> {
    const { count } = await sql`
      with ended as (
        delete from jobs.job where tenant_id = ${tenant} and id = ${id} and state = 'running' returning *
      ),
      told as (${lost(sql, sql`select lease_id, id from ended`)}),
      ${freed(sql)}
      insert into jobs.job_done (${history(sql)}, state, attempt, lost_count, last_error)
      select ${history(sql)}, 'cancelled', attempt, lost_count, last_error from ended`;
    return count === 1;
  },

  /** Makes a waiting job due now. Returns whether it waits. */
  async hasten(tenant: string, id: string): Promise<boolean> {
    const { count } = await sql`
      update jobs.job set run_at = least(run_at, statement_timestamp())
      where tenant_id = ${tenant} and id = ${id} and state in ('pending', 'retrying')`;
    return count === 1;
  },

  /**
   * Takes a failed or cancelled job back from the history, with all its attempts, and removes its dead letter. Returns `taken` when
   * another job has its unique key, and `none` when it is not in the history as failed or cancelled.
   */
  async revive(tenant: string, id: string): Promise<'revived' | 'taken' | 'none'> {
    const [row] = await sql<{ state: string; key_taken: boolean }[]>`
      select state, exists (
        select from jobs.job_key as held
        where held.tenant_id = past.tenant_id and held.app_id = past.app_id and held.unique_key = past.unique_key
          and held.job_id <> past.id and (held.expires_at is null or held.expires_at > statement_timestamp())
      ) as key_taken
      from jobs.job_done as past
      where tenant_id = ${tenant} and id = ${id} and state in ('failed', 'cancelled')
      for update`;
    if (row === undefined) return 'none';
    if (row.key_taken || !(await takeKey(sql, tenant, id))) return 'taken';
    await sql`
      with past as (delete from jobs.job_done where tenant_id = ${tenant} and id = ${id} returning *),
      letter as (delete from jobs.dlq where tenant_id = ${tenant} and job_id = ${id})
      insert into jobs.job (
        tenant_id, id, app_id, name, queue, rank, payload, tags, max_attempts, run_at, timeout_ms, backoff_type, backoff_delay_ms,
        backoff_max_ms, unique_key, last_error, turn, origin_id, created_at
      )
      select tenant_id, id, app_id, name, queue, rank, payload, tags, max_attempts, statement_timestamp(), timeout_ms, backoff_type,
        backoff_delay_ms, backoff_max_ms, unique_key, last_error, turn, origin_id, created_at
      from past`;
    return 'revived';
  },
});

/** Takes the unique key of an ended job for it again, if it has one. Returns whether no other job has the key. */
async function takeKey(sql: Sql, tenant: string, id: string): Promise<boolean> {
  const [row] = await sql<[{ needed: number; gained: number }]>`
    with past as (
      select tenant_id, app_id, unique_key, id from jobs.job_done
      where tenant_id = ${tenant} and id = ${id} and unique_key is not null
    ),
    gained as (
      insert into jobs.job_key as held (tenant_id, app_id, unique_key, job_id)
      select * from past
      on conflict on constraint job_key_pkey do update
      set job_id = excluded.job_id, expires_at = case when held.expires_at > statement_timestamp() then held.expires_at end
      where held.job_id = excluded.job_id or held.expires_at <= statement_timestamp()
      returning 1
    )
    select (select count(*)::integer from past) as needed, (select count(*)::integer from gained) as gained`;
  return row.needed === row.gained;
}
