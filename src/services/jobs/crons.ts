import type { Crons } from '../../../generated/jobs/server.ts';
import type { CronUpdate } from '../../../generated/jobs/types.ts';
import { cronStore } from '../../db/engine/crons.store.ts';
import { type CronSource, cronColumns } from '../../db/engine/crons.ts';
import { schedule } from '../../db/engine/schedule.ts';
import type { Sql } from '../../db/index.ts';
import type { Context } from '../../http/context.ts';
import { answerPage, windowOf } from '../../http/lists.ts';
import { viewOf } from '../../http/view.ts';
import { Conflict } from '../../lib/errors.ts';
import { formatDuration } from '../../lib/durations.ts';
import { newId } from '../../lib/ids.ts';
import { cronReads } from './crons.store.ts';
import type { Deps } from './deps.ts';
import { jobReads } from './jobs.store.ts';
import { byId } from './lists.ts';
import { checkOpenQueue } from './queue-names.ts';
import { backoffView, type CronRow, cronView, jobView } from './views.ts';
import type { Write } from './writes.ts';

/** Crons: schedules that create jobs. */
export const crons = ({ db, write, settings: { maxPayload } }: Deps) => {
  const read = cronReads(db.sql);

  /** Changes an entry that is locked, and returns it. */
  const change = (
    context: Context,
    id: string,
    event: 'updated' | 'enabled' | 'disabled',
    run: (tx: Write, entry: CronRow) => Promise<unknown>,
  ) =>
    write(context, async (tx) => {
      const view = viewOf(context);
      const entry = await cronReads(tx.sql).lock(view, id);
      await run(tx, entry);
      tx.emit(`jobs.cron.${event}`, id, entry, { cron_id: id, name: entry.name });
      return cronView(await cronReads(tx.sql).get(view, id));
    });

  return {
    create: ({ body }, context) => {
      const { scope_org_id, enabled, job_name, tags, ...input } = body;
      checkOpenQueue(input.queue, 'queue');
      const tenant = scope_org_id ?? context.tenant;
      const entry = cronColumns(
        { ...input, job_name: job_name ?? input.name, tags: [...new Set(tags)], tenant, app: context.app },
        maxPayload,
      );
      return write(context, async ({ sql, emit }) => {
        const id = newId('cron');
        await cronReads(sql).insert(id, entry, enabled ? await nextTick(sql, entry) : null);
        emit('jobs.cron.created', id, entry, { cron_id: id, name: entry.name });
        return cronView(await cronReads(sql).get({ app: context.app, tenant }, id));
      });
    },

    async list({ scope_org_id, ...request }, context) {
      const window = windowOf(request, byId);
      const { rows, cut } = await read.list(viewOf(context, scope_org_id), window);
      return answerPage(context.reply, window, rows, cut).map(cronView);
    },

    get: async ({ cronId }, context) => cronView(await read.get(viewOf(context), cronId)),

    update: ({ cronId, body }, context) => {
      if (body.queue !== undefined) checkOpenQueue(body.queue, 'queue');
      return change(context, cronId, 'updated', async ({ sql }, entry) => {
        const changed = cronColumns(merged(entry, body), maxPayload);
        const enabled = body.enabled ?? entry.enabled;
        await cronReads(sql).update(cronId, changed, enabled ? await nextTick(sql, changed) : null);
      });
    },

    delete: ({ cronId }, context) =>
      write(context, async ({ sql, emit }) => {
        const entry = await cronReads(sql).lock(viewOf(context), cronId);
        await cronStore(sql).delete(entry.tenant_id, cronId);
        emit('jobs.cron.deleted', cronId, entry, { cron_id: cronId, name: entry.name });
      }),

    enable: ({ cronId }, context) =>
      change(context, cronId, 'enabled', async ({ sql }, entry) =>
        cronStore(sql).setEnabled(entry.tenant_id, cronId, await nextTick(sql, entry)),
      ),

    disable: ({ cronId }, context) =>
      change(context, cronId, 'disabled', ({ sql }, { tenant_id }) =>
        cronStore(sql).setEnabled(tenant_id, cronId, null),
      ),

    trigger: ({ cronId }, context) =>
      write(context, async ({ sql, wake }) => {
        const view = viewOf(context);
        const { tenant_id } = await cronReads(sql).lock(view, cronId);
        const made = await cronStore(sql).trigger(tenant_id, cronId, newId('job'));
        if (made === undefined) throw Conflict('the last job of the cron entry is still live');
        wake([made.queue]);
        return jobView(await jobReads(sql).get(view, made.id));
      }),
  } satisfies Crons<Context>;
};

/** The next tick by the clock of the database. */
async function nextTick(sql: Sql, entry: { readonly schedule: string; readonly timezone: string }) {
  const next = schedule(entry.schedule, entry.timezone).next(await cronStore(sql).now());
  return next === undefined ? null : new Date(next).toISOString();
}

/** An entry with its changes. */
function merged(entry: CronRow, { tags, ...body }: CronUpdate): CronSource {
  const present = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));
  return {
    name: entry.name,
    schedule: entry.schedule,
    timezone: entry.timezone,
    job_name: entry.job_name,
    queue: entry.queue,
    payload: entry.payload,
    priority: -entry.rank || 0,
    max_attempts: entry.max_attempts,
    timeout: formatDuration(entry.timeout_ms),
    backoff: backoffView(entry),
    misfire: entry.misfire,
    overlap: entry.overlap,
    ...present,
    tags: tags === undefined ? entry.tags : [...new Set(tags)],
    tenant: entry.tenant_id,
    app: entry.app_id,
  };
}
