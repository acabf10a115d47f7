import type { Jobs } from '../../../generated/jobs/server.ts';
import type { Job } from '../../../generated/jobs/types.ts';
import type { ClaimedJob } from '../../db/engine/claim.store.ts';
import { jsonText, milliseconds } from '../../db/engine/job.ts';
import { attempted } from '../../db/engine/leases.ts';
import { limits as engineLimits } from '../../db/engine/limits.ts';
import { afterFailure, afterPostponement, type Failure, type Outcome } from '../../db/engine/outcomes.ts';
import { endRuns, isOfRun } from '../../db/engine/runs/ends.ts';
import { runLimits } from '../../db/engine/runs/limits.ts';
import { awaitSignal } from '../../db/engine/runs/outside.ts';
import { runStore } from '../../db/engine/runs/runs.store.ts';
import { conclude } from '../../db/engine/settle.ts';
import { settleStore } from '../../db/engine/settle.store.ts';
import type { Context } from '../../http/context.ts';
import { viewOf } from '../../http/view.ts';
import { Conflict, Invalid } from '../../lib/errors.ts';
import { parseMoment } from '../../lib/moments.ts';
import type { Deps } from './deps.ts';
import { leaseHolderStore } from './holders.store.ts';
import { jobReads } from './jobs.store.ts';
import { jobView } from './views.ts';
import type { Write } from './writes.ts';

/** How a worker that holds a job by a lease ends its attempt. */
export const reports = ({ write, settings }: Deps) => {
  /** Changes a job that the lease holds and returns it. */
  const report = (
    context: Context,
    { jobId, leaseId }: { jobId: string; leaseId: string },
    end: (tx: Write, job: ClaimedJob) => Promise<unknown>,
  ): Promise<Job> =>
    write(context, async (tx) => {
      const view = viewOf(context);
      const reads = jobReads(tx.sql);
      const [job] = await leaseHolderStore(tx.sql).held(view, leaseId, [jobId]);
      if (job === undefined) {
        await reads.get(view, jobId);
        throw Conflict('job is not held by this lease');
      }
      await end(tx, job);
      return jobView(await reads.get(view, jobId));
    });

  return {
    complete: ({ jobId, body }, context) => {
      const output = jsonText(body.output, 'output', settings.maxPayload);
      return report(context, { jobId, leaseId: body.lease_id }, (tx, job) =>
        completeJobs(tx, [{ job, output }]),
      );
    },

    fail: ({ jobId, body }, context) => {
      const failure = failureOf(body, '');
      return report(context, { jobId, leaseId: body.lease_id }, (tx, job) =>
        failJobs(tx, [{ job, failure }]),
      );
    },

    snooze: ({ jobId, body }, context) => {
      const { until, delay, signal, step } = body;
      if ((until === undefined) === (delay === undefined))
        throw Invalid('delay: required, unless until is given');
      if ((signal === undefined) !== (step === undefined))
        throw Invalid('step: required together with signal');
      const own = milliseconds(delay, 'delay', [0, engineLimits.delayMs]);
      if (until !== undefined) checkAhead(until);
      return report(context, { jobId, leaseId: body.lease_id }, async (tx, job) => {
        const delayMs = own ?? (await leaseHolderStore(tx.sql).msUntil(until!));
        const goesOn = await postponeRun(tx, job, { signal, step, delayMs });
        await settle(tx, job, afterPostponement(goesOn ? 0 : delayMs));
        tx.wake([job.queue]);
      });
    },
  } satisfies Pick<Jobs<Context>, 'complete' | 'fail' | 'snooze'>;
};

/** Completes jobs that a lease holds, and the runs that they execute. */
export async function completeJobs(
  { sql }: Write,
  done: readonly { readonly job: ClaimedJob; readonly output: string }[],
): Promise<void> {
  if (done.length === 0) return;
  await settleStore(sql).complete(done.map(({ job, output }) => ({ ...executionOf(job), output })));
  const runs = done.filter(({ job }) => isOfRun(job));
  await endRuns(
    sql,
    'completed',
    runs.map(({ job, output }) => ({ tenant_id: job.tenant_id, job_id: job.id, result: output })),
  );
}

/** Ends attempts that failed of jobs that a lease holds. */
export async function failJobs(
  { sql, wake }: Write,
  failed: readonly { readonly job: ClaimedJob; readonly failure: Failure }[],
): Promise<void> {
  if (failed.length === 0) return;
  const conclusions = failed.map(({ job, failure }) => ({
    ...executionOf(job),
    outcome: afterFailure(attempted(job), failure, Math.random()),
  }));
  wake((await conclude(sql, conclusions)).queues);
}

/** @param prefix where the failure stands in the request, for messages */
export function failureOf(
  failure: {
    readonly error: string;
    readonly retryable: boolean;
    readonly retry_in?: string | undefined;
  },
  prefix: string,
): Failure {
  const retryInMs = milliseconds(failure.retry_in, `${prefix}retry_in`, engineLimits.retryInMs);
  return { ...failure, ...(retryInMs === undefined ? {} : { retryInMs }) };
}

const settle = ({ sql }: Write, job: ClaimedJob, outcome: Outcome) =>
  conclude(sql, [{ ...executionOf(job), outcome }]);

const executionOf = ({ tenant_id, id, lease_id, turn }: ClaimedJob) => ({ tenant_id, id, lease_id, turn });

/** Records for what the run of a job waits. Returns whether its signal has arrived, so that it goes on at once. */
async function postponeRun(
  { sql }: Write,
  job: ClaimedJob,
  { signal, step, delayMs }: { signal: string | undefined; step: string | undefined; delayMs: number },
): Promise<boolean> {
  const run = isOfRun(job) ? await runStore(sql).ofJob(job.tenant_id, job.id) : undefined;
  if (run === undefined) {
    if (signal !== undefined) throw Invalid('signal: the job executes no run');
    return false;
  }
  if (signal === undefined || step === undefined) {
    await runStore(sql).wait(job.tenant_id, run.id, 'timer', delayMs);
    return false;
  }
  if (!runLimits.stepName.test(step)) throw Invalid('step: not a name');
  const wait = { tenant_id: job.tenant_id, run_id: run.id, step, signal, delayMs };
  if (await awaitSignal(sql, wait)) return true;
  await runStore(sql).wait(job.tenant_id, run.id, 'signal', delayMs);
  return false;
}

function checkAhead(until: string): void {
  if (parseMoment(until, 'until').ms > Date.now() + engineLimits.aheadMs)
    throw Invalid('until: must be at most 5 years ahead');
}
