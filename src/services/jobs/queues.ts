import type { Queues } from '../../../generated/jobs/server.ts';
import type { Queue } from '../../../generated/jobs/types.ts';
import { platform } from '../../db/engine/job.ts';
import type { Context } from '../../http/context.ts';
import { answerPage, windowOf } from '../../http/lists.ts';
import { viewOf } from '../../http/view.ts';
import { NotFound } from '../../lib/errors.ts';
import type { Counts } from './counts.ts';
import type { Deps } from './deps.ts';
import { byName } from './lists.ts';
import { type QueueRow, queueStore } from './queues.store.ts';

/** Queues: lines of jobs and their limits. */
export const queues = ({ db, write, counts }: Deps & { readonly counts: Counts }) =>
  ({
    async list(request, context) {
      const window = windowOf(request, byName);
      const view = viewOf(context);
      const found = await counts(['queues', view, window], () => queueStore(db.sql).list(view, window));
      return answerPage(context.reply, window, found).map((row) => queueView(row, view.app));
    },

    async get({ name }, context) {
      const view = viewOf(context);
      const found = await queueStore(db.sql).find(view, name);
      if (found === undefined) throw NotFound('queue');
      return queueView(found, view.app);
    },

    put: ({ name, body }, context) =>
      write(context, async ({ sql, emit, wake }) => {
        const view = viewOf(context);
        await queueStore(sql).put(view.app, name, body);
        emit(
          'jobs.queue.updated',
          name,
          { tenant_id: platform.tenant, app_id: view.app },
          { queue: name, ...body },
        );
        // A queue that was paused, or had a lower limit, may have jobs that can start now.
        wake([name]);
        return queueView((await queueStore(sql).find(view, name))!, view.app);
      }),
  }) satisfies Queues<Context>;

const queueView = ({ pending, running, retrying, ...row }: QueueRow, app: string): Queue => ({
  name: row.name,
  max_concurrency: row.max_concurrency,
  tenant_concurrency: row.tenant_concurrency,
  rate_limit: row.rate_limit,
  paused: row.paused,
  counts: { pending, running, retrying },
  oldest_due_at: row.oldest_due_at,
  scope_app_id: app,
  updated_at: row.updated_at,
});
