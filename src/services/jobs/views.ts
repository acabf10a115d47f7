import type {
  CronEntry,
  DeadLetter,
  Job,
  Step,
  Workflow,
  WorkflowRun,
} from '../../../generated/jobs/types.ts';
import { queueOf } from '../../db/engine/runs/limits.ts';
import type { StepRow } from '../../db/engine/runs/steps.store.ts';
import type { WorkflowRow } from '../../db/engine/runs/workflows.store.ts';
import { formatDuration } from '../../lib/durations.ts';

/** How the tables spell the delays after failed attempts. */
interface BackoffRow {
  readonly backoff_type: string;
  readonly backoff_delay_ms: number;
  readonly backoff_max_ms: number;
}

interface WorkRow extends BackoffRow {
  readonly rank: number;
  readonly timeout_ms: number;
  readonly tenant_id: string;
  readonly app_id: string;
}

/** A job, live or ended, with what its lease tells. */
export type JobRow = WorkRow &
  Pick<
    Job,
    | 'id'
    | 'name'
    | 'queue'
    | 'state'
    | 'payload'
    | 'attempt'
    | 'max_attempts'
    | 'run_at'
    | 'started_at'
    | 'completed_at'
    | 'unique_key'
    | 'tags'
    | 'output'
    | 'last_error'
    | 'lost_count'
    | 'worker'
    | 'lease_expires_at'
    | 'origin_id'
    | 'created_at'
  >;

export function jobView({ rank, timeout_ms, tenant_id, app_id, ...row }: JobRow): Job {
  return {
    id: row.id,
    name: row.name,
    queue: row.queue,
    state: row.state,
    payload: row.payload,
    attempt: row.attempt,
    max_attempts: row.max_attempts,
    run_at: row.run_at,
    started_at: row.started_at,
    completed_at: row.completed_at,
    priority: -rank || 0,
    timeout: formatDuration(timeout_ms),
    backoff: backoffView(row),
    unique_key: row.unique_key,
    tags: row.tags,
    output: row.output,
    last_error: row.last_error,
    lost_count: row.lost_count,
    worker: row.worker,
    lease_expires_at: row.lease_expires_at,
    origin_id: row.origin_id,
    scope_app_id: app_id,
    scope_org_id: tenant_id,
    created_at: row.created_at,
  };
}

export const backoffView = ({ backoff_type, backoff_delay_ms, backoff_max_ms }: BackoffRow) => ({
  type: backoff_type as 'exponential' | 'fixed',
  delay: formatDuration(backoff_delay_ms),
  max: formatDuration(backoff_max_ms),
});

export type DeadLetterRow = Omit<DeadLetter, 'scope_app_id' | 'scope_org_id'> &
  Pick<WorkRow, 'tenant_id' | 'app_id'>;

export const deadLetterView = (row: DeadLetterRow): DeadLetter => ({
  id: row.id,
  job_id: row.job_id,
  job_name: row.job_name,
  queue: row.queue,
  error: row.error,
  payload: row.payload,
  failed_at: row.failed_at,
  attempt: row.attempt,
  max_attempts: row.max_attempts,
  tags: row.tags,
  scope_app_id: row.app_id,
  scope_org_id: row.tenant_id,
});

export type CronRow = WorkRow &
  Pick<
    CronEntry,
    | 'id'
    | 'name'
    | 'schedule'
    | 'enabled'
    | 'last_fired_at'
    | 'next_run_at'
    | 'timezone'
    | 'job_name'
    | 'queue'
    | 'payload'
    | 'max_attempts'
    | 'tags'
    | 'misfire'
    | 'overlap'
    | 'created_at'
    | 'updated_at'
  >;

export function cronView({ tenant_id, app_id, ...row }: CronRow): CronEntry {
  return {
    id: row.id,
    name: row.name,
    schedule: row.schedule,
    enabled: row.enabled,
    last_fired_at: row.last_fired_at,
    next_run_at: row.next_run_at,
    timezone: row.timezone,
    job_name: row.job_name,
    queue: row.queue,
    payload: row.payload,
    priority: -row.rank || 0,
    max_attempts: row.max_attempts,
    timeout: formatDuration(row.timeout_ms),
    backoff: backoffView(row),
    tags: row.tags,
    misfire: row.misfire,
    overlap: row.overlap,
    scope_app_id: app_id,
    scope_org_id: tenant_id,
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
}

export type RunRow = Omit<WorkflowRun, 'scope_app_id' | 'scope_org_id'> &
  Pick<WorkRow, 'tenant_id' | 'app_id'>;

export const runView = ({ tenant_id, app_id, ...run }: RunRow): WorkflowRun => ({
  ...run,
  scope_app_id: app_id,
  scope_org_id: tenant_id,
});

export const stepView = ({
  run_id,
  name,
  state,
  attempt,
  output,
  error,
  started_at,
  completed_at,
}: Omit<StepRow, 'signal' | 'wake_in'>): Step => ({
  run_id,
  name,
  state,
  attempt,
  output,
  error,
  started_at,
  completed_at,
});

export const workflowView = (row: WorkflowRow): Workflow => ({
  name: row.name,
  version: row.version,
  description: row.description,
  queue: queueOf(row),
  max_attempts: row.max_attempts,
  timeout: formatDuration(row.timeout_ms),
  backoff: backoffView(row),
  source: row.source,
  updated_at: row.updated_at,
});
