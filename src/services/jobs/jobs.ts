import type { Jobs } from '../../../generated/jobs/server.ts';
import type { Job, JobInput, JobState } from '../../../generated/jobs/types.ts';
import { jobStore } from '../../db/engine/jobs.store.ts';
import { cancelRuns, isOfRun } from '../../db/engine/runs/ends.ts';
import { runStore } from '../../db/engine/runs/runs.store.ts';
import type { Sql } from '../../db/index.ts';
import type { View } from '../../db/view.ts';
import type { Context } from '../../http/context.ts';
import { answerPage, windowOf } from '../../http/lists.ts';
import { checkOwnItems } from '../../http/own-scope.ts';
import { viewOf } from '../../http/view.ts';
import { Invalid, NotFound } from '../../lib/errors.ts';
import type { Counts } from './counts.ts';
import type { Deps } from './deps.ts';
import { jobReads } from './jobs.store.ts';
import { limits } from './limits.ts';
import { byId } from './lists.ts';
import { checkOpenQueue } from './queue-names.ts';
import { reports } from './reports.ts';
import { jobView } from './views.ts';
import type { Write } from './writes.ts';

/** Jobs: units of work and their outcome. */
export const jobs = (deps: Deps & { readonly counts: Counts }) => {
  const { db, engine, write, counts } = deps;
  const read = jobReads(db.sql);
  return {
    async list({ state, queue, name, tag, scope_org_id, ...request }, context) {
      const window = windowOf(request, byId);
      const filter = { state, queue, name, tags: tag };
      const { rows, resumed } = await read.list(viewOf(context, scope_org_id), filter, window);
      return answerPage(context.reply, window, rows, resumed).map(jobView);
    },

    counts({ queue, tag, scope_org_id }, context) {
      const view = viewOf(context, scope_org_id);
      return counts(['jobs', view, queue, tag], () => read.counts(view, { queue, tags: tag }));
    },

    async create({ body }, context) {
      const { id, created } = await engine.enqueue(enqueued(body, context, 'queue'));
      context.reply.status(created ? 201 : 200);
      return jobView(await read.get(ownerOf(body, context), id));
    },

    async createBatch({ body }, context) {
      checkOwnItems(context, 'jobs', body.jobs);
      const all = body.jobs.map((job, at) => enqueued(job, context, `jobs[${at}].queue`));
      const ids = (await engine.enqueue(all)).map(({ id }) => id);
      const owners = [...new Set(body.jobs.map((job) => ownerOf(job, context).tenant))];
      const view = { app: context.app, tenant: owners.length === 1 ? owners[0] : undefined };
      const found = new Map((await read.all(view, ids)).map((row) => [row.id, row]));
      return { jobs: ids.flatMap((id) => (found.has(id) ? [jobView(found.get(id)!)] : [])) };
    },

    cancelMany({ body }, context) {
      const { ids, queue, name, tags, scope_org_id } = body;
      const isFilter = queue !== undefined || name !== undefined || tags !== undefined;
      if (ids !== undefined && isFilter) throw Invalid('ids: cannot be combined with queue, name and tags');
      if (ids === undefined && !isFilter)
        throw Invalid('ids: required, unless queue, name or tags are given');
      const view = viewOf(context, scope_org_id);
      return write(context, async (tx) => {
        const store = jobReads(tx.sql);
        const found = await store.waiting(view, { ids, queue, name, tags }, limits.batch);
        const cancelled = await cancelAll(tx, found);
        const remaining = ids === undefined ? await store.countWaiting(view, { queue, name, tags }) : 0;
        return { cancelled, remaining };
      });
    },

    get: async ({ jobId }, context) => jobView(await read.get(viewOf(context), jobId)),

    cancel: ({ jobId }, context) =>
      write(context, async (tx) => {
        const job = await jobReads(tx.sql).get(viewOf(context), jobId);
        if ((await cancelAll(tx, [job])) === 1) return;
        throw await inState(tx, viewOf(context), jobId, 'cancelled');
      }),

    retry: ({ jobId }, context) => write(context, (tx) => retryJob(tx, viewOf(context), jobId)),

    ...reports(deps),
  } satisfies Jobs<Context>;
};

/** Whose job a request makes. */
const ownerOf = (
  { scope_org_id }: { readonly scope_org_id?: string | undefined },
  { app, tenant }: Context,
) => ({
  app,
  tenant: scope_org_id ?? tenant,
});

function enqueued({ scope_org_id, tags, ...job }: JobInput, context: Context, field: string) {
  checkOpenQueue(job.queue, field);
  return { ...job, tags: [...new Set(tags)], ...ownerOf({ scope_org_id }, context) };
}

/** Cancels those of these jobs that wait, with their runs. Returns how many. */
async function cancelAll(
  { sql, emit }: Write,
  found: readonly { readonly tenant_id: string; readonly id: string }[],
): Promise<number> {
  const cancelled = await jobStore(sql).cancel(found);
  await cancelRuns(sql, cancelled);
  for (const job of cancelled)
    emit('jobs.job.cancelled', job.id, job, { job_id: job.id, job_name: job.name, queue: job.queue });
  return cancelled.length;
}

async function retryJob({ sql, wake }: Write, view: View, id: string): Promise<Job> {
  const store = jobStore(sql);
  const { tenant_id, queue } = await jobReads(sql).get(view, id);
  if (!(await store.hasten(tenant_id, id))) {
    const outcome = await store.revive(tenant_id, id);
    if (outcome === 'taken') throw Invalid('job cannot be retried: another job has its unique_key');
    if (outcome === 'none') throw await inState({ sql }, view, id, 'retried');
    if (isOfRun({ queue })) await resumeRun(sql, tenant_id, id);
  }
  wake([queue]);
  return jobView(await jobReads(sql).get(view, id));
}

/** Lets the run of a revived job go on. A run that has been given another job since must not be executed twice. */
async function resumeRun(sql: Sql, tenant: string, id: string): Promise<void> {
  const run = await runStore(sql).ofJob(tenant, id);
  if (run?.state !== 'failed') throw Invalid('job cannot be retried: its run has another job, or is gone');
  await runStore(sql).resume([{ tenant_id: tenant, from: id, to: id }]);
}

async function inState({ sql }: Pick<Write, 'sql'>, view: View, id: string, what: string) {
  const job = await jobReads(sql).find(view, id);
  const state: JobState | undefined = job?.state;
  return state === undefined ? NotFound('job') : Invalid(`job cannot be ${what} in state ${state}`);
}
