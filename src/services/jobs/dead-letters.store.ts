import type { Sql } from '../../db/index.ts';
import { largeRows } from '../../db/large-rows.ts';
import { followsPrevious, onePage, type Window } from '../../db/lists.ts';
import { lookEnd, resumedAt } from '../../db/long-lists.ts';
import { isInView, type View } from '../../db/view.ts';
import { NotFound } from '../../lib/errors.ts';
import type { byId } from './lists.ts';
import type { DeadLetterRow } from './views.ts';

export interface LetterFilter {
  readonly queue?: string | undefined;
  readonly job_name?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly ids?: readonly string[] | undefined;
}

/** What a replay needs of a dead letter. */
export interface Letter {
  readonly tenant_id: string;
  readonly app_id: string;
  readonly id: string;
  readonly job_id: string;
  readonly queue: string;
}

/** Every statement that reads dead letters. */
export const deadLetterReads = (sql: Sql) => ({
  async get(view: View, id: string): Promise<DeadLetterRow> {
    const [row] = await sql<DeadLetterRow[]>`
      select ${columns(sql)} from jobs.dlq where id = ${id} and ${isInView(sql, view)}`;
    if (row === undefined) throw NotFound('dlq entry');
    return row;
  },

  /** A page, and where the next one goes on if this one is cut, or stopped looking for dead letters that match. */
  async list(
    view: View,
    filter: LetterFilter,
    window: Window<typeof byId>,
  ): Promise<{ rows: DeadLetterRow[]; resumed: { id: string } | undefined }> {
    const end = await lookEndOf(sql, view, filter, window);
    const page = sql`
      select ${columns(sql)} from jobs.dlq
      where ${isInView(sql, view)} ${matching(sql, filter)} ${followsPrevious(sql, window)}
        ${end === undefined ? sql`` : sql`and id >= ${end}`}
      ${onePage(sql, window)}`;
    const size = { of: sql`octet_length(payload::text)` };
    const { rows, cut } = await largeRows<DeadLetterRow>(sql, window.order, page, size);
    return { rows, resumed: cut ?? resumedAt(window, rows, end) };
  },

  async count(view: View, filter: LetterFilter): Promise<number> {
    const [row] = await sql<[{ count: number }]>`
      select count(*) from jobs.dlq where ${isInView(sql, view)} ${matching(sql, filter)}`;
    return row.count;
  },

  /** The oldest dead letters that match. */
  async oldest(view: View, filter: LetterFilter, most: number): Promise<Letter[]> {
    return await sql<Letter[]>`
      select tenant_id, app_id, id, job_id, queue from jobs.dlq
      where ${isInView(sql, view)} ${matching(sql, filter)} order by id limit ${most}`;
  },
});

/** The last dead letter at which a page may look. Of a tenant there is an index by queue. */
async function lookEndOf(
  sql: Sql,
  view: View,
  { queue, job_name, tags }: LetterFilter,
  window: Window<typeof byId>,
): Promise<string | undefined> {
  const isIndexed = view.tenant !== undefined;
  const isFiltered = job_name !== undefined || tags !== undefined || (queue !== undefined && !isIndexed);
  if (!isFiltered) return undefined;
  const indexed = isIndexed ? matching(sql, { queue }) : sql``;
  return await lookEnd(
    sql,
    [{ table: sql`jobs.dlq`, where: sql`${isInView(sql, view)} ${indexed}` }],
    window,
  );
}

const matching = (sql: Sql, { queue, job_name, tags = [], ids }: LetterFilter) => sql`
  ${queue === undefined ? sql`` : sql`and queue = ${queue}`}
  ${job_name === undefined ? sql`` : sql`and job_name = ${job_name}`}
  ${tags.length === 0 ? sql`` : sql`and tags @> ${[...tags]}::text[]`}
  ${ids === undefined ? sql`` : sql`and id = any(${[...ids]}::text[])`}`;

const columns = (sql: Sql) => sql`
  id, job_id, job_name, queue, error, payload, failed_at, attempt, max_attempts, tags, tenant_id, app_id`;
