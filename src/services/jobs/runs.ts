import type { Runs } from '../../../generated/jobs/server.ts';
import type { StepOutput } from '../../../generated/jobs/types.ts';
import { deadLetterStore } from '../../db/engine/dead-letters.store.ts';
import { jsonText } from '../../db/engine/job.ts';
import { jobStore } from '../../db/engine/jobs.store.ts';
import { afterPostponement } from '../../db/engine/outcomes.ts';
import { endRuns } from '../../db/engine/runs/ends.ts';
import { checkHeld, lockRun, reportStep, storeSignal } from '../../db/engine/runs/outside.ts';
import { runStore } from '../../db/engine/runs/runs.store.ts';
import { jobOf, startRun } from '../../db/engine/runs/starting.ts';
import { workflowStore } from '../../db/engine/runs/workflows.store.ts';
import { conclude } from '../../db/engine/settle.ts';
import type { Sql } from '../../db/index.ts';
import type { Context } from '../../http/context.ts';
import { answerPage, windowOf } from '../../http/lists.ts';
import { viewOf } from '../../http/view.ts';
import { Invalid, NotFound } from '../../lib/errors.ts';
import type { Deps } from './deps.ts';
import { leaseHolderStore } from './holders.store.ts';
import { byId } from './lists.ts';
import { failureOf } from './reports.ts';
import { oldestFirst, runReads } from './runs.store.ts';
import { runView, stepView } from './views.ts';
import { tenantsOf } from './workflows.ts';
import type { Write } from './writes.ts';

/** Runs: executions of workflows, their steps, and the signals for which they wait. */
export const runs = (deps: Deps) => {
  const { db, engine, write, settings } = deps;
  const { maxPayload } = settings;
  const read = runReads(db.sql);
  const enqueue: Enqueue = (job, tx) => engine.enqueue(job, { tx });
  return {
    async list({ state, name, scope_org_id, ...request }, context) {
      const window = windowOf(request, byId);
      const { rows, resumed } = await read.list(viewOf(context, scope_org_id), { state, name }, window);
      return answerPage(context.reply, window, rows, resumed).map(runView);
    },

    start: ({ body: { scope_org_id, ...run } }, context) =>
      write(context, async ({ sql }) => {
        const { app } = context;
        const tenants = scope_org_id === undefined ? tenantsOf(context) : [scope_org_id];
        const { id, tenant, created } = await startRun(sql, run, { tenants, app }, { enqueue, maxPayload });
        context.reply.status(created ? 201 : 200);
        return runView(await runReads(sql).get({ app, tenant }, id));
      }),

    get: async ({ runId }, context) => runView(await read.get(viewOf(context), runId)),

    async steps({ runId, ...request }, context) {
      const window = windowOf(request, oldestFirst);
      const { tenant_id } = await read.get(viewOf(context), runId);
      const { rows, cut } = await read.steps(tenant_id, runId, window);
      return answerPage(context.reply, window, rows, cut).map(stepView);
    },

    saveStep({ runId, step, body }, context) {
      if (body.error !== null && body.output !== null) throw Invalid('error: cannot be combined with output');
      const report = { step, ...reportOf(body, maxPayload) };
      return write(context, async (tx) => {
        const run = await lockedRun(tx.sql, context, runId);
        checkHeld(run, body.lease_id);
        const [job] = await leaseHolderStore(tx.sql).held(viewOf(context), body.lease_id, [run.job_id]);
        if (job === undefined) throw NotFound('run');
        const backoff = {
          type: job.backoff_type,
          delayMs: job.backoff_delay_ms,
          maxMs: job.backoff_max_ms,
        };
        const { step: saved, postponeMs } = await reportStep(tx.sql, run, backoff, report);
        if (postponeMs !== undefined) {
          const { tenant_id, id, lease_id, turn } = job;
          const outcome = afterPostponement(postponeMs);
          await conclude(tx.sql, [{ tenant_id, id, lease_id, turn, outcome }]);
          tx.wake([job.queue]);
        }
        return stepView(saved);
      });
    },

    signal({ runId, body: { name, payload, id } }, context) {
      const text = jsonText(payload, 'payload', maxPayload);
      return write(context, async (tx) => {
        const run = await lockedRun(tx.sql, context, runId);
        const { tenant_id } = run;
        const signal = { tenant_id, run_id: runId, name, payload: text, dedup: id };
        const { received } = await storeSignal(tx.sql, run, signal);
        if (received && (await jobStore(tx.sql).hasten(tenant_id, run.job_id))) {
          await runStore(tx.sql).wake([{ tenant_id, id: run.job_id }]);
          tx.wake([run.queue!]);
        }
        return { accepted: true as const };
      });
    },

    cancel: ({ runId }, context) =>
      write(context, async ({ sql }) => {
        const { tenant_id, job_id: id, state } = await lockedRun(sql, context, runId);
        if (state !== 'running') throw Invalid(`run is ${state}`);
        const jobs = jobStore(sql);
        const [cancelled] = await jobs.cancel([{ tenant_id, id }]);
        if (cancelled === undefined) await jobs.abort(tenant_id, id);
        await endRuns(sql, 'failed', [{ tenant_id, job_id: id, result: 'cancelled' }]);
        return runView(await runReads(sql).get(viewOf(context), runId));
      }),

    retry: ({ runId }, context) => write(context, (tx) => retryRun(tx, runId, enqueue)),
  } satisfies Runs<Context>;
};

type Enqueue = Parameters<typeof startRun>[3]['enqueue'];

/** Gives a failed run a new job. The dead letter of the last one goes, so that nobody replays it. */
async function retryRun({ sql, context }: Write, runId: string, enqueue: Enqueue) {
  const { app } = context;
  const seen = await runReads(sql).get(viewOf(context), runId);
  // Dead letters are locked before runs. Unless the run has failed, this is rolled back.
  await deadLetterStore(sql).deleteOfJob(seen.tenant_id, seen.job_id);
  const run = await lockRun(sql, seen.tenant_id, runId);
  if (run.state !== 'failed') throw Invalid(`run is ${run.state}`);
  const { tenant_id: tenant, name, version, job_id } = run;
  const workflow = await workflowStore(sql).find([tenant, 'system'], app, name, version);
  if (workflow === undefined) throw Invalid('run cannot be retried: its workflow is not registered');
  const job = await enqueue(jobOf(workflow, { tenant, app, id: runId, run: {} }), sql);
  await runStore(sql).resume([{ tenant_id: tenant, from: job_id, to: job.id }]);
  return runView(await runReads(sql).get(viewOf(context), runId));
}

/** Locks a run that the caller may see. */
async function lockedRun(sql: Sql, context: Context, runId: string) {
  const { tenant_id } = await runReads(sql).get(viewOf(context), runId);
  return lockRun(sql, tenant_id, runId);
}

function reportOf({ output, error, retryable, retry_in }: StepOutput, maxPayload: number) {
  if (error === null) return { output: jsonText(output, 'output', maxPayload) };
  const { retryInMs } = failureOf({ error, retryable, retry_in }, '');
  return { output: null, failure: { error, retryable, retryInMs } };
}
