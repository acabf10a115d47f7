import type { Jobs } from '../../../services/jobs/jobs.ts';
import type { Runs } from '../../../services/jobs/runs.ts';
import type * as T from '../../../services/jobs/types.ts';
import { type AttemptContext, completed, type End, recorded } from '../attempt.ts';
import { JobFailure } from '../failures.ts';
import { isLoss, repeated } from '../repetition.ts';
import type { WorkerJob, WorkflowCode } from '../types.ts';
import { Execution } from './execution.ts';
import { Recorder } from './recorder.ts';

export interface RunDeps {
  readonly jobs: Jobs;
  readonly runs: Runs;
  readonly onError: (error: unknown) => void;
}

/** The maximum number of steps in a page. */
const stepsPerPage = 1_000;

/** Executes a workflow's code for the run of a job, up to its end or to the point where it has to wait. */
export async function executeRun(
  deps: RunDeps,
  code: WorkflowCode,
  job: WorkerJob,
  context: AttemptContext,
): Promise<End> {
  const { abandoned: signal } = context;
  const loaded = await repeated(() => load(deps, job, signal), { signal, onFailure: deps.onError });
  if (loaded === undefined) throw new JobFailure('run not found', { retryable: false });
  const { run, steps } = loaded;
  // The run was cancelled while its job was in transit.
  if (run.state !== 'running') return completed(null);
  const recorder = new Recorder(deps, job, context);
  const execution = new Execution({ job, context, recorder, run, steps });
  const result = Promise.resolve(run.input).then((input) => code(input, execution));
  // After the execution is suspended, nothing listens to the workflow's code any more.
  result.catch(() => {});
  try {
    return await Promise.race([result.then(completed), execution.suspended.then(() => recorded)]);
  } finally {
    execution.end();
  }
}

/** Reads a run and all its steps; undefined when the run does not exist, or when another job executes it. */
async function load(
  { runs }: RunDeps,
  job: WorkerJob,
  signal: AbortSignal,
): Promise<{ run: T.WorkflowRun; steps: T.Step[] } | undefined> {
  const { run_id: runId } = job.payload as { run_id: string };
  try {
    const run = await runs.get({ runId }, { signal });
    if (run.job_id !== job.id) return undefined;
    const steps: T.Step[] = [];
    for await (const step of runs.steps({ runId, limit: stepsPerPage }, { signal })) steps.push(step);
    return { run, steps };
  } catch (error) {
    if (isLoss(error)) return undefined;
    throw error;
  }
}
