import type { Dlq } from '../../../generated/jobs/server.ts';
import { deadLetterStore, type Replayed } from '../../db/engine/dead-letters.store.ts';
import { milliseconds } from '../../db/engine/job.ts';
import { isOfRun } from '../../db/engine/runs/ends.ts';
import { runStore } from '../../db/engine/runs/runs.store.ts';
import type { Context } from '../../http/context.ts';
import { answerPage, windowOf } from '../../http/lists.ts';
import { viewOf } from '../../http/view.ts';
import { Invalid, NotFound } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import type { Counts } from './counts.ts';
import { deadLetterReads, type Letter } from './dead-letters.store.ts';
import type { Deps } from './deps.ts';
import { jobReads } from './jobs.store.ts';
import { limits } from './limits.ts';
import { byId } from './lists.ts';
import { deadLetterView, jobView } from './views.ts';
import type { Write } from './writes.ts';

/** How old dead letters are that a purge removes, unless it says. */
const purgedByDefault = '720h';

/** Dlq: dead letters, which are jobs that failed for good. */
export const dlq = ({ db, write, counts }: Deps & { readonly counts: Counts }) => {
  const read = deadLetterReads(db.sql);
  return {
    async list({ queue, job_name, tag, scope_org_id, ...request }, context) {
      const window = windowOf(request, byId);
      const filter = { queue, job_name, tags: tag };
      const { rows, resumed } = await read.list(viewOf(context, scope_org_id), filter, window);
      return answerPage(context.reply, window, rows, resumed).map(deadLetterView);
    },

    count({ queue, tag, scope_org_id }, context) {
      const view = viewOf(context, scope_org_id);
      return counts(['dlq', view, queue, tag], async () => ({
        count: await read.count(view, { queue, tags: tag }),
      }));
    },

    purge: ({ body }, context) => {
      const { older_than = purgedByDefault, queue, scope_org_id } = body ?? {};
      const olderThanMs = milliseconds(older_than, 'older_than', limits.olderThanMs)!;
      return write(context, async ({ sql, emit }) => {
        const { app, tenant } = viewOf(context, scope_org_id);
        const filter = { app, tenant, queue, olderThanMs, most: limits.batch };
        let purged = 0;
        for (let count: number = limits.batch; count === limits.batch; purged += count)
          count = await deadLetterStore(sql).purge(filter);
        const owner = { tenant_id: tenant ?? context.tenant, app_id: app };
        if (purged > 0) emit('jobs.dlq.purged', owner.tenant_id, owner, { purged, queue: queue ?? null });
        return { purged };
      });
    },

    replayMany: ({ body }, context) => {
      const { ids, queue, job_name, scope_org_id } = body;
      const isFilter = queue !== undefined || job_name !== undefined;
      if (ids !== undefined && isFilter) throw Invalid('ids: cannot be combined with queue and job_name');
      if (ids === undefined && !isFilter) throw Invalid('ids: required, unless queue or job_name is given');
      const view = viewOf(context, scope_org_id);
      return write(context, async (tx) => {
        const store = deadLetterReads(tx.sql);
        const replayed = await replayAll(
          tx,
          await store.oldest(view, { ids, queue, job_name }, limits.batch),
        );
        const found = new Set(replayed.map(({ dlq_id }) => dlq_id));
        return {
          replayed: replayed.length,
          jobs: replayed.map(({ id }) => id),
          not_found: [...new Set(ids ?? [])].filter((id) => !found.has(id)),
          remaining: ids === undefined ? await store.count(view, { queue, job_name }) : 0,
        };
      });
    },

    get: async ({ entryId }, context) => deadLetterView(await read.get(viewOf(context), entryId)),

    replay: ({ entryId }, context) =>
      write(context, async (tx) => {
        const view = viewOf(context);
        const [replayed] = await replayAll(
          tx,
          await deadLetterReads(tx.sql).oldest(view, { ids: [entryId] }, 1),
        );
        if (replayed === undefined) throw NotFound('dlq entry');
        return jobView(await jobReads(tx.sql).get(view, replayed.id));
      }),
  } satisfies Dlq<Context>;
};

/** Makes a new job of each dead letter that is still there. The runs of workflows go on with the new jobs. */
async function replayAll({ sql, emit, wake }: Write, letters: readonly Letter[]): Promise<Replayed[]> {
  if (letters.length === 0) return [];
  const failedJobs = new Map(letters.map(({ id, job_id }) => [id, job_id]));
  const given = letters.map(({ tenant_id, id }) => ({ tenant_id, id, job_id: newId('job') }));
  const replayed = await deadLetterStore(sql).replay(given);
  const ofRuns = replayed.filter(isOfRun);
  if (ofRuns.length > 0)
    await runStore(sql).resume(
      ofRuns.map(({ tenant_id, dlq_id, id }) => ({ tenant_id, from: failedJobs.get(dlq_id)!, to: id })),
    );
  for (const { dlq_id, id, queue, tenant_id, app_id } of replayed)
    emit('jobs.dlq.replayed', dlq_id, { tenant_id, app_id }, { dlq_id, job_id: id, queue });
  wake(replayed.map(({ queue }) => queue));
  return replayed;
}
