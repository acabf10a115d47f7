import type { Database } from '../../index.ts';
import { type Handler, JobFailure } from '../attempt.ts';
import type { ClaimedJob } from '../claim.store.ts';
import { checkedName, newJob, platform } from '../job.ts';
import { repeated } from '../repetition.ts';
import { endRuns } from './ends.ts';
import { Execution, type ExecutionDeps } from './execution.ts';
import { queueOf, runLimits } from './limits.ts';
import { type RunHead, runStore } from './runs.store.ts';
import { stepStore } from './steps.store.ts';
import type { WorkflowCode, WorkflowOptions } from './workflow.ts';
import { type WorkflowColumns, workflowStore } from './workflows.store.ts';

export interface WorkflowsDeps extends ExecutionDeps {
  readonly handle: (queue: string, name: string, handler: Handler, options: { concurrency?: number }) => void;
}

/** The workflows whose code this process has. */
export interface Workflows {
  declare(name: string, version: number, code: WorkflowCode, options?: WorkflowOptions): void;
  /** Registers what was declared, so that runs can be started. */
  register(ended: () => boolean): Promise<void>;
}

export function createWorkflows(deps: WorkflowsDeps): Workflows {
  const declared: WorkflowColumns[] = [];
  return {
    declare(name, version, code, options = {}) {
      declared.push(columnsOf(name, version, options));
      const { concurrency } = options;
      const handler = executed(deps, code);
      deps.handle(
        queueOf({ name, version, source: 'code' }),
        name,
        handler,
        concurrency === undefined ? {} : { concurrency },
      );
    },
    async register(ended) {
      for (const workflow of declared)
        await repeated(() => workflowStore(deps.db.background).put(workflow), ended);
    },
  };
}

function columnsOf(name: string, version: number, options: WorkflowOptions): WorkflowColumns {
  if (name.length > runLimits.nameLength) throw new TypeError(`${name}: is too long for a workflow`);
  const { maxAttempts, timeoutMs, backoff } = newJob({ ...options, name: checkedName(name, 'name') }, '', {
    maxPayload: runLimits.nameLength,
    now: 0,
  });
  return {
    tenant_id: platform.tenant,
    app_id: platform.app,
    name,
    version,
    description: options.description ?? '',
    source: 'code',
    max_attempts: maxAttempts,
    timeout_ms: timeoutMs,
    backoff_type: backoff.type,
    backoff_delay_ms: backoff.delayMs,
    backoff_max_ms: backoff.maxMs,
  };
}

/** The handler that executes the runs of a workflow. */
const executed =
  (deps: ExecutionDeps, code: WorkflowCode): Handler =>
  async (job, context) => {
    const claimed = job as ClaimedJob;
    const { run_id } = job.payload as { run_id: string };
    const run = await loaded(deps.db, claimed, run_id);
    if (run === undefined) throw new JobFailure('run not found', { retryable: false });
    // The run was cancelled while its job was being claimed.
    if (run.state !== 'running') return undefined;
    const { name, version, key, tenant_id: tenant, app_id: app } = run;
    const about = { id: run_id, name, version, key, tenant, app };
    const execution = new Execution(
      deps,
      claimed,
      context,
      about,
      await stepStore(deps.db.sql).all(tenant, run_id),
    );
    const result = Promise.resolve(run.input).then((input) => code(input, execution));
    result.catch(() => {});
    const suspended = Symbol('suspended');
    const output = await Promise.race([result, execution.suspended.then(() => suspended)]);
    if (output === suspended) return undefined;
    execution.end();
    const text = output === undefined ? null : output;
    await deps.db.transaction(async (tx) => {
      await context.complete(tx, text);
      await endRuns(tx, 'completed', [{ tenant_id: tenant, job_id: job.id, result: JSON.stringify(text) }]);
    });
    return undefined;
  };

/** The run of a claimed job, which waits no longer. */
async function loaded(
  db: Database,
  { tenant_id, id }: ClaimedJob,
  runId: string,
): Promise<(RunHead & { readonly input: unknown }) | undefined> {
  const [run] = await Promise.all([
    runStore(db.sql).findWithInput(tenant_id, runId),
    runStore(db.sql).wake([{ tenant_id, id }]),
  ]);
  return run?.job_id === id ? run : undefined;
}
