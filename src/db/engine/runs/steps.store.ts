import type { Sql } from '../../sql.ts';
import type { Execution } from '../settle.store.ts';
import { runLimits } from './limits.ts';

export type StepState = 'retrying' | 'waiting' | 'completed' | 'failed';

/** A recorded step. */
export interface StepRow {
  readonly run_id: string;
  readonly name: string;
  readonly state: StepState;
  readonly attempt: number;
  readonly output: unknown;
  readonly error: string | null;
  readonly signal: string | null;
  /** Milliseconds until it wakes; negative when that time has passed, null when it waits for no time. */
  readonly wake_in: number | null;
  readonly started_at: string;
  readonly completed_at: string | null;
}

/** What to record of a step. */
export interface NewStep {
  readonly tenant_id: string;
  readonly run_id: string;
  readonly name: string;
  readonly state: StepState;
  readonly attempt: number;
  /** JSON text; null unless it is completed. */
  readonly output?: string | null;
  readonly error?: string | null;
  readonly signal?: string | null;
  /** When it wakes: a moment, or milliseconds from now. */
  readonly wakeAt?: string | null | undefined;
  readonly delayMs?: number | null | undefined;
  /** How long ago it began, in milliseconds. */
  readonly elapsedMs?: number;
}

/** What became of a step that was to be recorded. */
export interface SavedStep {
  /** Whether the execution still counts. */
  readonly held: boolean;
  /** The step; undefined when it had ended before, or the run has as many steps as it may have. */
  readonly step: StepRow | undefined;
}

/** Every statement about the steps of runs. */
export const stepStore = (sql: Sql) => ({
  /**
   * Records a step. What has ended stays as it is. With an execution, nothing is recorded unless the job is still held by it, which is
   * checked in the same statement.
   */
  async save(step: NewStep, execution?: Execution): Promise<SavedStep> {
    const { tenant_id, run_id, name } = step;
    const known = sql`exists (
      select from jobs.step where tenant_id = ${tenant_id} and run_id = ${run_id} and name = ${name}
    )`;
    const ended = step.state === 'completed' || step.state === 'failed';
    const [row] = await sql<[{ held: boolean } & (StepRow | { name: null })]>`
      with held as materialized (${
        execution === undefined
          ? sql`select 1`
          : sql`
            select 1 from jobs.job
            where tenant_id = ${execution.tenant_id} and id = ${execution.id} and lease_id = ${execution.lease_id}
              and turn = ${execution.turn!}
            for share`
      }),
      counted as (
        update jobs.run
        set step_count = step_count + case when ${known} then 0 else 1 end, current_step = ${name}, waiting_for = null, wake_at = null
        where tenant_id = ${tenant_id} and id = ${run_id} and state = 'running' and exists (select from held)
          and (step_count < ${runLimits.steps} or ${known})
        returning step_count
      ),
      saved as (
        insert into jobs.step (
          tenant_id, run_id, name, seq, state, attempt, output, error, signal, wake_at, started_at, completed_at
        )
        select ${tenant_id}, ${run_id}, ${name}, step_count, ${step.state}, ${step.attempt}, ${step.output ?? null}::text::json,
          ${step.error ?? null}, ${step.signal ?? null},
          coalesce(${step.wakeAt ?? null}::timestamptz, statement_timestamp() + ${step.delayMs ?? null}::float8 * interval '1 millisecond'),
          statement_timestamp() - ${step.elapsedMs ?? 0}::float8 * interval '1 millisecond',
          case when ${ended} then statement_timestamp() end
        from counted
        on conflict on constraint step_pkey do update set
          state = excluded.state, attempt = excluded.attempt, output = excluded.output, error = coalesce(excluded.error, step.error),
          signal = excluded.signal, wake_at = excluded.wake_at, completed_at = excluded.completed_at
        where step.state in ('retrying', 'waiting')
        returning ${columns(sql)}
      )
      select exists (select from held) as held, saved.* from (select) as one left join saved on true`;
    const { held, ...saved } = row;
    return { held, step: saved.name === null ? undefined : saved };
  },

  async find(tenant: string, runId: string, name: string): Promise<StepRow | undefined> {
    const [row] = await sql<StepRow[]>`
      select ${columns(sql)} from jobs.step where tenant_id = ${tenant} and run_id = ${runId} and name = ${name}`;
    return row;
  },

  /** All steps of a run, of which there are no more than its limit. */
  async all(tenant: string, runId: string): Promise<StepRow[]> {
    return await sql<StepRow[]>`
      select ${columns(sql)} from jobs.step where tenant_id = ${tenant} and run_id = ${runId}`;
  },

  /** Whether one of these steps has been completed. */
  async anyCompleted(tenant: string, runId: string, names: readonly string[]): Promise<boolean> {
    const [row] = await sql<[{ found: boolean }]>`
      select exists (
        select from jobs.step
        where tenant_id = ${tenant} and run_id = ${runId} and name = any(${[...names]}::text[]) and state = 'completed'
      ) as found`;
    return row.found;
  },
});

export const stepColumns = (sql: Sql) => columns(sql);

const columns = (sql: Sql) => sql`
  run_id, name, state, attempt, output, error, signal, started_at, completed_at,
  extract(epoch from wake_at - statement_timestamp())::float8 * 1000 as wake_in`;
