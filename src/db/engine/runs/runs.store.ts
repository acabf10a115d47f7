import type { Sql } from '../../sql.ts';

export type RunState = 'running' | 'completed' | 'failed';
export type WaitingFor = 'timer' | 'signal' | 'retry';

/** What decides about a run. */
export interface RunHead {
  readonly tenant_id: string;
  readonly app_id: string;
  readonly id: string;
  readonly name: string;
  readonly version: number;
  readonly state: RunState;
  readonly key: string | null;
  readonly job_id: string;
  readonly signal_count: number;
}

export interface NewRun {
  readonly tenant_id: string;
  readonly id: string;
  readonly app_id: string;
  readonly name: string;
  readonly version: number;
  /** JSON text. */
  readonly input: string;
  readonly key: string | null;
  readonly job_id: string;
}

/** A run that has ended, as its event tells. */
export interface EndedRun {
  readonly tenant_id: string;
  readonly app_id: string;
  readonly id: string;
  readonly name: string;
  readonly error: string | null;
}

/** The job that executed a run, and with what it ended. */
export interface JobEnd {
  readonly tenant_id: string;
  readonly job_id: string;
  /** JSON text, or the error. */
  readonly result: string | null;
}

/**
 * Every statement about runs. Transactions lock in this order: the history and the dead letters, the job, the run, its steps and
 * signals.
 */
export const runStore = (sql: Sql) => ({
  /** Stores a run unless its key is taken. Returns whether it did. */
  async insert(run: NewRun): Promise<boolean> {
    const { count } = await sql`
      insert into jobs.run (tenant_id, id, app_id, name, version, input, key, job_id)
      values (
        ${run.tenant_id}, ${run.id}, ${run.app_id}, ${run.name}, ${run.version}, ${run.input}::text::json, ${run.key}, ${run.job_id}
      )
      on conflict on constraint run_key do nothing`;
    return count === 1;
  },

  /** The run that holds a key; undefined when there is none any more. */
  async withKey(tenant: string, app: string, name: string, key: string): Promise<string | undefined> {
    const [row] = await sql<{ id: string }[]>`
      select id from jobs.run where tenant_id = ${tenant} and app_id = ${app} and name = ${name} and key = ${key}`;
    return row?.id;
  },

  async setJob(tenant: string, id: string, jobId: string): Promise<void> {
    await sql`update jobs.run set job_id = ${jobId} where tenant_id = ${tenant} and id = ${id}`;
  },

  async find(tenant: string, id: string): Promise<RunHead | undefined> {
    const [row] = await sql<RunHead[]>`
      select ${head(sql)} from jobs.run where tenant_id = ${tenant} and id = ${id}`;
    return row;
  },

  async findWithInput(tenant: string, id: string): Promise<(RunHead & { input: unknown }) | undefined> {
    const [row] = await sql<(RunHead & { input: unknown })[]>`
      select ${head(sql)}, input from jobs.run where tenant_id = ${tenant} and id = ${id}`;
    return row;
  },

  /** Locks the live job of a run, so that it neither begins nor ends meanwhile. Returns its lease; undefined when no job is live. */
  async lockJob(
    tenant: string,
    jobId: string,
  ): Promise<{ lease_id: string | null; queue: string } | undefined> {
    const [row] = await sql<{ lease_id: string | null; queue: string }[]>`
      select lease_id, queue from jobs.job where tenant_id = ${tenant} and id = ${jobId} for update`;
    return row;
  },

  /** Locks the run that a job executes. */
  async ofJob(tenant: string, jobId: string): Promise<RunHead | undefined> {
    const [row] = await sql<RunHead[]>`
      select ${head(sql)} from jobs.run where tenant_id = ${tenant} and job_id = ${jobId} for update`;
    return row;
  },

  async lock(tenant: string, id: string): Promise<RunHead | undefined> {
    const [row] = await sql<RunHead[]>`
      select ${head(sql)} from jobs.run where tenant_id = ${tenant} and id = ${id} for update`;
    return row;
  },

  /** Ends the runs of jobs that have ended, in one statement. Runs that had ended before are missing in the result. */
  async end(state: 'completed' | 'failed', ends: readonly JobEnd[]): Promise<EndedRun[]> {
    return await sql<EndedRun[]>`
      update jobs.run
      set state = ${state}, completed_at = now(), waiting_for = null, wake_at = null,
        ${state === 'completed' ? sql`output = given.result::json` : sql`error = given.result`}
      from unnest(
        ${ends.map(({ tenant_id }) => tenant_id)}::text[], ${ends.map(({ job_id }) => job_id)}::text[],
        ${ends.map(({ result }) => result)}::text[]
      ) as given(tenant_id, job_id, result)
      where run.tenant_id = given.tenant_id and run.job_id = given.job_id and run.state = 'running'
      returning run.tenant_id, run.app_id, run.id, run.name, run.error`;
  },

  /** Lets failed runs go on with new jobs, in one statement; steps that had failed for good are executed again. */
  async resume(jobs: readonly { readonly tenant_id: string; readonly from: string; readonly to: string }[]) {
    await sql`
      with resumed as (
        update jobs.run
        set state = 'running', job_id = given.job_to, error = null, completed_at = null, waiting_for = null, wake_at = null
        from unnest(
          ${jobs.map(({ tenant_id }) => tenant_id)}::text[], ${jobs.map(({ from }) => from)}::text[],
          ${jobs.map(({ to }) => to)}::text[]
        ) as given(tenant_id, job_from, job_to)
        where run.tenant_id = given.tenant_id and run.job_id = given.job_from and run.state = 'failed'
        returning run.tenant_id, run.id
      )
      delete from jobs.step using resumed
      where step.tenant_id = resumed.tenant_id and step.run_id = resumed.id and step.state in ('failed', 'retrying')`;
  },

  /** The runs of these jobs wait no longer. */
  async wake(jobs: readonly { readonly tenant_id: string; readonly id: string }[]): Promise<void> {
    await sql`
      update jobs.run set waiting_for = null, wake_at = null
      from unnest(${jobs.map(({ tenant_id }) => tenant_id)}::text[], ${jobs.map(({ id }) => id)}::text[]) as given(tenant_id, job_id)
      where run.tenant_id = given.tenant_id and run.job_id = given.job_id and run.waiting_for is not null`;
  },

  /** What a run waits for, and for how long at most; null is no limit. */
  async wait(tenant: string, id: string, waitingFor: WaitingFor, delayMs: number | null): Promise<void> {
    await sql`
      update jobs.run
      set waiting_for = ${waitingFor}, wake_at = statement_timestamp() + ${delayMs}::float8 * interval '1 millisecond'
      where tenant_id = ${tenant} and id = ${id}`;
  },

  /** Names the step that runs now, unless the execution does not count any more. */
  async current(
    { tenant_id, id, lease_id }: { tenant_id: string; id: string; lease_id: string },
    runId: string,
    step: string,
  ): Promise<void> {
    await sql`
      update jobs.run set current_step = ${step}
      where tenant_id = ${tenant_id} and id = ${runId}
        and exists (select from jobs.job where tenant_id = ${tenant_id} and id = ${id} and lease_id = ${lease_id})`;
  },

  /** Deletes up to `most` runs, with their steps and signals, that ended before the retention began. Returns how many. */
  async deleteOld(retentionMs: number, most: number): Promise<number> {
    const [row] = await sql<[{ count: number }]>`
      with old as materialized (
        select tenant_id, id from jobs.run
        where completed_at < now() - ${retentionMs}::float8 * interval '1 millisecond'
        order by completed_at limit ${most} for update skip locked
      ),
      steps as (delete from jobs.step using old where step.tenant_id = old.tenant_id and step.run_id = old.id),
      signals as (delete from jobs.signal using old where signal.tenant_id = old.tenant_id and signal.run_id = old.id),
      gone as (delete from jobs.run using old where run.tenant_id = old.tenant_id and run.id = old.id returning 1)
      select count(*)::integer as count from gone`;
    return row.count;
  },
});

const head = (sql: Sql) => sql`tenant_id, app_id, id, name, version, state, key, job_id, signal_count`;
