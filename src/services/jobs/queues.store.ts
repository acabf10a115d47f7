import type { QueueUpdate } from '../../../generated/jobs/types.ts';
import type { Sql } from '../../db/index.ts';
import { followsPrevious, onePage, type Window } from '../../db/lists.ts';
import { isInView, type View } from '../../db/view.ts';
import type { byName } from './lists.ts';

export interface QueueRow {
  readonly name: string;
  readonly max_concurrency: number;
  readonly tenant_concurrency: number;
  readonly rate_limit: number;
  readonly paused: boolean;
  readonly updated_at: string | null;
  readonly pending: number;
  readonly running: number;
  readonly retrying: number;
  readonly oldest_due_at: string | null;
}

/** Every statement about queues: their limits, and the live jobs in them that the caller may see. */
export const queueStore = (sql: Sql) => ({
  async list(view: View, window: Window<typeof byName>): Promise<QueueRow[]> {
    return await sql<QueueRow[]>`
      select * from (${queues(sql, view)}) as queue
      where true ${followsPrevious(sql, window)}
      ${onePage(sql, window)}`;
  },

  /** Undefined when the queue has neither limits nor live jobs that the caller may see. */
  async find(view: View, name: string): Promise<QueueRow | undefined> {
    const [row] = await sql<QueueRow[]>`${queues(sql, view, name)}`;
    return row;
  },

  /** Sets limits; what is absent stays as it is. */
  async put(app: string, name: string, limits: QueueUpdate): Promise<void> {
    const given = Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined));
    await sql`
      insert into jobs.queue ${sql({ ...given, app_id: app, name })}
      on conflict on constraint queue_pkey do update set
        max_concurrency = coalesce(${limits.max_concurrency ?? null}::integer, queue.max_concurrency),
        tenant_concurrency = coalesce(${limits.tenant_concurrency ?? null}::integer, queue.tenant_concurrency),
        rate_limit = coalesce(${limits.rate_limit ?? null}::integer, queue.rate_limit),
        paused = coalesce(${limits.paused ?? null}::boolean, queue.paused), updated_at = now()`;
  },
});

const queues = (sql: Sql, view: View, name?: string) => {
  const named = (column: string) => (name === undefined ? sql`` : sql`and ${sql(column)} = ${name}`);
  return sql`
    with live as (
      select queue as name, count(*) filter (where state = 'pending') as pending, count(*) filter (where state = 'running') as running,
        count(*) filter (where state = 'retrying') as retrying,
        min(run_at) filter (where state <> 'running' and run_at <= statement_timestamp()) as oldest_due_at
      from jobs.job where ${isInView(sql, view)} ${named('queue')} group by queue
    ),
    limits as (select * from jobs.queue where app_id = ${view.app} ${named('name')})
    select name, coalesce(max_concurrency, 0) as max_concurrency, coalesce(tenant_concurrency, 0) as tenant_concurrency,
      coalesce(rate_limit, 0) as rate_limit, coalesce(paused, false) as paused, updated_at, coalesce(pending, 0) as pending,
      coalesce(running, 0) as running, coalesce(retrying, 0) as retrying, oldest_due_at
    from live full join limits using (name)`;
};
