import { NotFound, Unavailable } from '../../../lib/errors.ts';
import { newId } from '../../../lib/ids.ts';
import type { Sql } from '../../sql.ts';
import { jsonText, type JobInput } from '../job.ts';
import { formatDuration } from '../../../lib/durations.ts';
import { queueOf } from './limits.ts';
import { runStore } from './runs.store.ts';
import { type WorkflowRow, workflowStore } from './workflows.store.ts';

/** A run to start. */
export interface RunInput {
  readonly name: string;
  /** The version of the workflow; the highest one when absent. */
  readonly version?: number | undefined;
  /** Any JSON. */
  readonly input?: unknown;
  /** A key that no other run of the workflow in the tenant and app has. */
  readonly key?: string | null | undefined;
  readonly priority?: number | undefined;
  readonly run_at?: string | null | undefined;
  readonly tenant?: string | undefined;
  readonly app?: string | undefined;
}

export interface StartedRun {
  readonly id: string;
  readonly tenant: string;
  /** Whether it is new; another run had the key if not. */
  readonly created: boolean;
}

/** Stores a job in the transaction. */
type EnqueueIn = (job: JobInput, tx: Sql) => Promise<{ readonly id: string }>;

interface StartDeps {
  readonly enqueue: EnqueueIn;
  readonly maxPayload: number;
}

/** How often a key may become free between the look for its run and the insertion of another. */
const mostRounds = 5;

/**
 * Stores a run and the job that executes it, in the transaction of `sql`. The workflow is that of the first of `tenants` which has
 * registered the name; the run belongs to that tenant.
 */
export async function startRun(
  sql: Sql,
  run: RunInput,
  { tenants, app }: { readonly tenants: readonly string[]; readonly app: string },
  deps: StartDeps,
): Promise<StartedRun> {
  const input = jsonText(run.input ?? null, 'input', deps.maxPayload);
  const workflow = await workflowStore(sql).find(tenants, app, run.name, run.version);
  if (workflow === undefined) throw NotFound('workflow');
  const tenant = run.tenant ?? workflow.tenant_id;
  const store = runStore(sql);
  const key = run.key ?? null;
  const id = newId('wfrun');
  for (let round = 0; round < mostRounds; round++) {
    const existing = key === null ? undefined : await store.withKey(tenant, app, run.name, key);
    if (existing !== undefined) return { id: existing, tenant, created: false };
    const stored = await store.insert({
      tenant_id: tenant,
      id,
      app_id: app,
      name: workflow.name,
      version: workflow.version,
      input,
      key,
      // The job follows in the same transaction.
      job_id: '',
    });
    if (!stored) continue;
    const job = await deps.enqueue(jobOf(workflow, { tenant, app, id, run }), sql);
    await store.setJob(tenant, id, job.id);
    return { id, tenant, created: true };
  }
  throw Unavailable('the key changes hands too often');
}

/** The job that executes a run of a workflow. */
export function jobOf(
  workflow: WorkflowRow,
  {
    tenant,
    app,
    id,
    run,
  }: { tenant: string; app: string; id: string; run: Pick<RunInput, 'priority' | 'run_at'> },
): JobInput {
  return {
    tenant,
    app,
    name: workflow.name,
    queue: queueOf(workflow),
    payload: { run_id: id },
    origin_id: id,
    max_attempts: workflow.max_attempts,
    timeout: formatDuration(workflow.timeout_ms),
    backoff: {
      type: workflow.backoff_type as 'exponential' | 'fixed',
      delay: formatDuration(workflow.backoff_delay_ms),
      max: formatDuration(workflow.backoff_max_ms),
    },
    priority: run.priority,
    run_at: run.run_at,
  };
}
