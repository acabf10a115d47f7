import type { JobCounts, JobState } from '../../../generated/jobs/types.ts';
import type { Fragment, Sql } from '../../db/index.ts';
import { largeRows } from '../../db/large-rows.ts';
import { followsPrevious, onePage, type Window } from '../../db/lists.ts';
import { lookEnd, resumedAt } from '../../db/long-lists.ts';
import { isInView, type View } from '../../db/view.ts';
import { NotFound } from '../../lib/errors.ts';
import type { byId } from './lists.ts';
import type { JobRow } from './views.ts';

export interface JobFilter {
  readonly queue?: string | undefined;
  readonly name?: string | undefined;
  readonly tags?: readonly string[] | undefined;
}

const liveStates: readonly JobState[] = ['pending', 'running', 'retrying'];

/** Every statement that reads jobs. Live ones and those that have ended are in two tables; a job is always in one of them. */
export const jobReads = (sql: Sql) => ({
  async find(view: View, id: string): Promise<JobRow | undefined> {
    const found = sql`id = ${id} and ${isInView(sql, view)}`;
    const [row] = await sql<JobRow[]>`
      ${withLease(sql, sql`select ${live(sql)} from jobs.job where ${found} union all select ${ended(sql)} from jobs.job_done where ${found}`)}`;
    return row;
  },

  async get(view: View, id: string): Promise<JobRow> {
    const row = await this.find(view, id);
    if (row === undefined) throw NotFound('job');
    return row;
  },

  /** Jobs by their ids, in no order. */
  async all(view: View, ids: readonly string[]): Promise<JobRow[]> {
    const found = sql`id = any(${[...ids]}::text[]) and ${isInView(sql, view)}`;
    return await sql<JobRow[]>`
      ${withLease(sql, sql`select ${live(sql)} from jobs.job where ${found} union all select ${ended(sql)} from jobs.job_done where ${found}`)}`;
  },

  /** A page, and where the next one goes on if this one stopped looking for jobs that match. */
  async list(
    view: View,
    { state, ...filter }: JobFilter & { readonly state?: JobState | undefined },
    window: Window<typeof byId>,
  ): Promise<{ rows: JobRow[]; resumed: { id: string } | undefined }> {
    const isLive = state === undefined || liveStates.includes(state);
    const isEnded = state === undefined || !liveStates.includes(state);
    const sources = [
      ...(isLive ? [{ table: sql`jobs.job`, where: isInView(sql, view) }] : []),
      ...(isEnded
        ? [{ table: sql`jobs.job_done`, where: endedIndexed(sql, view, { state, ...filter }) }]
        : []),
    ];
    const isFiltered = state !== undefined || Object.values(filter).some((value) => value !== undefined);
    const end = isFiltered ? await lookEnd(sql, sources, window) : undefined;
    const most = { ...window, limit: window.limit + window.offset, offset: 0 };
    const part = (columns: Fragment, table: Fragment) => sql`(
      select ${columns} from ${table}
      where ${isInView(sql, view)} ${matching(sql, filter)} ${state === undefined ? sql`` : sql`and state = ${state}`}
        ${followsPrevious(sql, window)} ${end === undefined ? sql`` : sql`and id >= ${end}`}
      ${onePage(sql, most)}
    )`;
    const parts = [
      ...(isLive ? [part(live(sql), sql`jobs.job`)] : []),
      ...(isEnded ? [part(ended(sql), sql`jobs.job_done`)] : []),
    ];
    const both = parts.reduce((one, other) => sql`${one} union all ${other}`);
    const page = withLease(sql, sql`select * from (${both}) as both_tables ${onePage(sql, window)}`);
    const { rows, cut } = await largeRows<JobRow>(sql, window.order, page, { of: jobSize(sql) });
    return { rows, resumed: cut ?? resumedAt(window, rows, end) };
  },

  /** The numbers of jobs by state. */
  async counts(view: View, filter: JobFilter): Promise<JobCounts> {
    const rows = await sql<{ state: JobState; count: number }[]>`
      select state, count(*) from jobs.job where ${isInView(sql, view)} ${matching(sql, filter)} group by state
      union all
      select state, count(*) from jobs.job_done where ${isInView(sql, view)} ${matching(sql, filter)} group by state`;
    const none = { pending: 0, running: 0, completed: 0, failed: 0, retrying: 0, cancelled: 0 };
    return rows.reduce((counts, { state, count }) => ({ ...counts, [state]: count }), none);
  },

  /** The oldest waiting jobs that match, by tenant, up to `most`. */
  async waiting(
    view: View,
    filter: JobFilter & { readonly ids?: readonly string[] | undefined },
    most: number,
  ): Promise<{ tenant_id: string; id: string }[]> {
    return await sql<{ tenant_id: string; id: string }[]>`
      select tenant_id, id from jobs.job where ${isWaiting(sql, view, filter)} order by id limit ${most}`;
  },

  async countWaiting(view: View, filter: JobFilter): Promise<number> {
    const [row] = await sql<[{ count: number }]>`
      select count(*) from jobs.job where ${isWaiting(sql, view, filter)}`;
    return row.count;
  },

  /** How many dead letters the view has. */
  async letters(view: View): Promise<number> {
    const [row] = await sql<[{ count: number }]>`select count(*) from jobs.dlq where ${isInView(sql, view)}`;
    return row.count;
  },
});

/** The conditions for jobs that have ended of which there is an index. */
const endedIndexed = (
  sql: Sql,
  view: View,
  { state, queue }: JobFilter & { readonly state?: JobState | undefined },
) => sql`
  ${isInView(sql, view)}
  ${view.tenant === undefined || queue === undefined ? sql`` : sql`and queue = ${queue}`}
  ${state === 'failed' || state === 'cancelled' ? sql`and state <> 'completed'` : sql``}`;

const jobSize = (sql: Sql) => sql`octet_length(payload::text) + coalesce(octet_length(output::text), 0)`;

const isWaiting = (
  sql: Sql,
  view: View,
  { ids, ...filter }: JobFilter & { ids?: readonly string[] | undefined },
) => sql`
  ${isInView(sql, view)} and state in ('pending', 'retrying') ${matching(sql, filter)}
  ${ids === undefined ? sql`` : sql`and id = any(${[...ids]}::text[])`}`;

const matching = (sql: Sql, { queue, name, tags = [] }: JobFilter) => sql`
  ${queue === undefined ? sql`` : sql`and queue = ${queue}`}
  ${name === undefined ? sql`` : sql`and name = ${name}`}
  ${tags.length === 0 ? sql`` : sql`and tags @> ${[...tags]}::text[]`}`;

const columns = (sql: Sql) => sql`
  tenant_id, app_id, id, name, queue, state, rank, payload, tags, attempt, max_attempts, run_at, started_at, timeout_ms, backoff_type,
  backoff_delay_ms, backoff_max_ms, unique_key, last_error, lost_count, origin_id, created_at`;

const live = (sql: Sql) => sql`
  ${columns(sql)}, null::timestamptz as completed_at, null::json as output, lease_id`;

const ended = (sql: Sql) => sql`${columns(sql)}, completed_at, output, null::text as lease_id`;

/** Adds to jobs who executes them. */
const withLease = (sql: Sql, rows: Fragment) => sql`
  select found.*, nullif(lease.worker, '') as worker, lease.expires_at as lease_expires_at
  from (${rows}) as found left join jobs.lease on lease.id = found.lease_id`;
