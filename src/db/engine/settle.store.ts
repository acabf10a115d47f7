import type { Fragment } from 'postgres';
import type { Sql } from '../sql.ts';
import type { Outcome } from './outcomes.ts';

/** One execution of a job: a result counts only while the job is running under this lease, in this turn. */
export interface Execution {
  readonly tenant_id: string;
  readonly id: string;
  readonly lease_id: string;
  /** Absent where only the lease is known. */
  readonly turn?: number | undefined;
}

export interface Completion extends Execution {
  /** The result of the attempt as JSON text; null if it has none. */
  readonly output: string | null;
}

export interface Conclusion extends Execution {
  readonly outcome: Outcome;
}

/** A job that failed for good. */
export interface FailedJob {
  readonly id: string;
  readonly dlq_id: string;
  readonly tenant_id: string;
  readonly app_id: string;
  readonly name: string;
  readonly queue: string;
  readonly error: string;
  readonly attempt: number;
}

/**
 * Every statement that ends an attempt. All of them find jobs by the primary key and compare the lease afterwards: an index on the
 * lease would be preferred by the planner, and cost more than it gains.
 */
export const settleStore = (sql: Sql) => ({
  /** Moves jobs to the history as completed. Returns the ids of those whose execution still counted. */
  async complete(done: readonly Completion[]): Promise<string[]> {
    const rows = await sql<{ id: string }[]>`
      with ended as (
        delete from jobs.job using unnest(
          ${executions(sql, done)}, ${done.map(({ output }) => output)}::text[]
        ) as done(tenant_id, id, lease_id, turn, output)
        where ${isSame(sql, sql`done`)}
        returning job.*, done.output
      ),
      ${freed(sql)}
      insert into jobs.job_done (${history(sql)}, state, attempt, lost_count, last_error, output)
      select ${history(sql)}, 'completed', attempt, lost_count, last_error, output::json from ended
      returning id`;
    return rows.map(({ id }) => id);
  },

  /** Puts jobs back for another attempt. Returns the ids and queues of those whose execution still counted. */
  async putBack(list: readonly Conclusion[]): Promise<{ id: string; queue: string }[]> {
    return await sql<{ id: string; queue: string }[]>`
      update jobs.job
      set state = given.state, lease_id = null, run_at = statement_timestamp() + delay_ms * interval '1 millisecond',
        attempt = attempt - uncounted, lost_count = lost_count + lost, last_error = coalesce(given.error, last_error)
      from ${conclusions(sql, list)}
      where ${isSame(sql, sql`given`)}
      returning job.id, job.queue`;
  },

  /** Moves jobs to the history as failed and keeps a dead letter of each, in one statement. */
  async fail(list: readonly (Conclusion & { readonly dlq_id: string })[]): Promise<FailedJob[]> {
    return await sql<FailedJob[]>`
      with ended as (
        delete from jobs.job using ${conclusions(sql, list)}
        where ${isSame(sql, sql`given`)}
        returning job.*, given.error, given.dlq_id, attempt - given.uncounted as counted, lost_count + given.lost as losses
      ),
      ${freed(sql)},
      past as (
        insert into jobs.job_done (${history(sql)}, state, attempt, lost_count, last_error)
        select ${history(sql)}, 'failed', counted, losses, error from ended
      ),
      letters as (
        insert into jobs.dlq (
          tenant_id, id, app_id, job_id, job_name, queue, error, payload, tags, rank, attempt, max_attempts, timeout_ms, backoff_type,
          backoff_delay_ms, backoff_max_ms
        )
        select tenant_id, dlq_id, app_id, id, name, queue, error, payload, tags, rank, counted, max_attempts, timeout_ms, backoff_type,
          backoff_delay_ms, backoff_max_ms
        from ended
      )
      select id, dlq_id, tenant_id, app_id, name, queue, error, counted as attempt from ended`;
  },
});

/** The columns that the history takes over from a live job. */
export const history = (sql: Sql) => sql`
  tenant_id, id, app_id, name, queue, rank, payload, tags, max_attempts, run_at, started_at, timeout_ms, backoff_type, backoff_delay_ms,
  backoff_max_ms, unique_key, turn, origin_id, created_at`;

/** Notes on the leases of outside workers which jobs were taken from them. `taken` has the columns `lease_id` and `id`. */
export const lost = (sql: Sql, taken: Fragment) => sql`
  update jobs.lease set lost = lease.lost || taken.ids
  from (select lease_id, array_agg(id) as ids from (${taken}) as one group by lease_id) as taken
  where lease.id = taken.lease_id and lease.kind = 'http'`;

/**
 * Frees the keys that the jobs in `ended` held while they lived, in the order of the keys, so that no two statements wait for each
 * other.
 */
export const freed = (sql: Sql) => sql`
  free as (
    select held.tenant_id, held.app_id, held.unique_key
    from ended
    join jobs.job_key as held
      on held.tenant_id = ended.tenant_id and held.app_id = ended.app_id and held.unique_key = ended.unique_key
      and held.job_id = ended.id
    where held.expires_at is null
    order by held.tenant_id, held.app_id, held.unique_key
    for update of held
  ),
  freed as (
    delete from jobs.job_key as held using free
    where held.tenant_id = free.tenant_id and held.app_id = free.app_id and held.unique_key = free.unique_key
  )`;

/**
 * The lease alone tells that a job runs: a job that does not has none. A condition on the state would lead the planner to the index of
 * the running jobs, which it would search once for each job.
 */
const isSame = (sql: Sql, given: Fragment) => sql`
  job.tenant_id = ${given}.tenant_id and job.id = ${given}.id and job.lease_id = ${given}.lease_id
  and job.turn = coalesce(${given}.turn, job.turn)`;

const executions = (sql: Sql, list: readonly Execution[]) => sql`
  ${list.map(({ tenant_id }) => tenant_id)}::text[], ${list.map(({ id }) => id)}::text[],
  ${list.map(({ lease_id }) => lease_id)}::text[], ${list.map(({ turn }) => turn ?? null)}::integer[]`;

/** Conclusions as rows, with the ids of the dead letters of those that have one. */
function conclusions(sql: Sql, list: readonly (Conclusion & { readonly dlq_id?: string })[]) {
  const of = <Value>(value: (outcome: Outcome) => Value) => list.map(({ outcome }) => value(outcome));
  return sql`
    unnest(
      ${executions(sql, list)}, ${of(({ state }) => state)}::text[], ${of(({ delayMs }) => delayMs)}::float8[],
      ${of(({ error }) => error)}::text[], ${of(({ uncounted }) => Number(uncounted))}::integer[],
      ${of(({ lost }) => Number(lost))}::integer[], ${list.map(({ dlq_id }) => dlq_id ?? null)}::text[]
    ) as given(tenant_id, id, lease_id, turn, state, delay_ms, error, uncounted, lost, dlq_id)`;
}
