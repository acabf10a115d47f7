import type { Jobs } from '../../services/jobs/jobs.ts';
import type { Runs } from '../../services/jobs/runs.ts';
import { completed, endOf, type Work } from './attempt.ts';
import { isPostponed } from './failures.ts';
import { executeRun } from './runs/run.ts';
import type { Settings } from './settings.ts';
import type { WorkerJob } from './types.ts';

interface WorkDeps {
  readonly jobs: Jobs;
  readonly runs: Runs;
  readonly onError: Settings['onError'];
}

/** Returns what to do with a job: its handler, or the workflow's code of its run. */
export function workOf(deps: WorkDeps, { handlers, codes }: Settings): (job: WorkerJob) => Work {
  return ({ queue, name }) => {
    const code = codes.get(queue);
    if (code !== undefined) return heard(deps, (job, context) => executeRun(deps, code, job, context));
    const ofQueue = handlers.get(queue) ?? {};
    const handler = Object.hasOwn(ofQueue, name) ? ofQueue[name] : undefined;
    return heard(deps, async (job, { signal }) => {
      if (handler === undefined) throw new Error(`no handler for job ${name}`);
      return completed(await handler(job, { signal }));
    });
  };
}

/** Reports an exception of a handler to the owner of the worker. */
const heard =
  ({ onError }: WorkDeps, work: Work): Work =>
  async (job, context) => {
    try {
      return await work(job, context);
    } catch (error) {
      if (!context.abandoned.aborted && !isPostponed(error)) onError(error, job);
      return endOf(error);
    }
  };
