import type { RunCounts, RunState } from '../../../generated/jobs/types.ts';
import { stepColumns, type StepRow } from '../../db/engine/runs/steps.store.ts';
import type { Sql } from '../../db/index.ts';
import { largeRows } from '../../db/large-rows.ts';
import { followsPrevious, onePage, type Order, type Window } from '../../db/lists.ts';
import { lookEnd, resumedAt } from '../../db/long-lists.ts';
import { isInView, type View } from '../../db/view.ts';
import { NotFound } from '../../lib/errors.ts';
import type { byId } from './lists.ts';
import type { RunRow } from './views.ts';

/** Steps stand in the order in which they began. */
export const oldestFirst = { columns: { seq: 'number' }, direction: 'asc' } as const satisfies Order;

/** A step with its place among those of its run. */
export type ListedStep = StepRow & { readonly seq: number };

export interface RunFilter {
  readonly state?: RunState | undefined;
  readonly name?: string | undefined;
}

/** Every statement that reads runs. */
export const runReads = (sql: Sql) => ({
  async get(view: View, id: string): Promise<RunRow> {
    const [row] = await sql<RunRow[]>`
      select ${columns(sql)} from jobs.run where id = ${id} and ${isInView(sql, view)}`;
    if (row === undefined) throw NotFound('run');
    return row;
  },

  /** A page, and where the next one goes on if this one is cut, or stopped looking for runs that match. */
  async list(
    view: View,
    filter: RunFilter,
    window: Window<typeof byId>,
  ): Promise<{ rows: RunRow[]; resumed: { id: string } | undefined }> {
    const end = await lookEndOf(sql, view, filter, window);
    const page = sql`
      select ${columns(sql)} from jobs.run
      where ${isInView(sql, view)} ${matching(sql, filter)} ${followsPrevious(sql, window)}
        ${end === undefined ? sql`` : sql`and id >= ${end}`}
      ${onePage(sql, window)}`;
    const size = { of: sql`octet_length(input::text) + coalesce(octet_length(output::text), 0)` };
    const { rows, cut } = await largeRows<RunRow>(sql, window.order, page, size);
    return { rows, resumed: cut ?? resumedAt(window, rows, end) };
  },

  /** A page, and where the next one goes on if this one is cut. */
  async steps(
    tenant: string,
    runId: string,
    window: Window<typeof oldestFirst>,
  ): Promise<{ rows: ListedStep[]; cut: ListedStep | undefined }> {
    const page = sql`
      select seq, ${stepColumns(sql)} from jobs.step
      where tenant_id = ${tenant} and run_id = ${runId} ${followsPrevious(sql, window)}
      ${onePage(sql, window)}`;
    return await largeRows<ListedStep>(sql, window.order, page, {
      of: sql`coalesce(octet_length(output::text), 0)`,
    });
  },

  /** The numbers of runs by state. */
  async counts(view: View): Promise<RunCounts> {
    const rows = await sql<{ state: RunState; count: number }[]>`
      select state, count(*) from jobs.run where ${isInView(sql, view)} group by state`;
    const none = { running: 0, completed: 0, failed: 0 };
    return rows.reduce((counts, { state, count }) => ({ ...counts, [state]: count }), none);
  },
});

/** The last run at which a page may look. There is an index of a tenant's runs by each filter, but none by both. */
async function lookEndOf(
  sql: Sql,
  view: View,
  { state, name }: RunFilter,
  window: Window<typeof byId>,
): Promise<string | undefined> {
  const isIndexed = view.tenant !== undefined;
  if ((state ?? name) === undefined || (isIndexed && (state === undefined || name === undefined)))
    return undefined;
  const indexed = isIndexed ? matching(sql, { name }) : sql``;
  return await lookEnd(
    sql,
    [{ table: sql`jobs.run`, where: sql`${isInView(sql, view)} ${indexed}` }],
    window,
  );
}

const matching = (sql: Sql, { state, name }: RunFilter) => sql`
  ${state === undefined ? sql`` : sql`and state = ${state}`} ${name === undefined ? sql`` : sql`and name = ${name}`}`;

const columns = (sql: Sql) => sql`
  id, name, state, current_step, started_at, completed_at, version, input, output, error, key, job_id, waiting_for, wake_at, tenant_id,
  app_id`;
