import type { Sql } from '../../db/index.ts';
import { followsPrevious, onePage, type Window } from '../../db/lists.ts';
import { isInView, type View } from '../../db/view.ts';
import { NotFound } from '../../lib/errors.ts';
import type { byId } from './lists.ts';
import { ofBoundedSize, type Sized } from './pages.store.ts';
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

  async list(
    view: View,
    filter: LetterFilter,
    window: Window<typeof byId>,
  ): Promise<(DeadLetterRow & Sized)[]> {
    const page = sql`
      select ${columns(sql)} from jobs.dlq
      where ${isInView(sql, view)} ${matching(sql, filter)} ${followsPrevious(sql, window)}
      ${onePage(sql, window)}`;
    return await sql<(DeadLetterRow & Sized)[]>`
      ${ofBoundedSize(sql, page, sql`octet_length(payload::text)`)} order by id desc`;
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

const matching = (sql: Sql, { queue, job_name, tags = [], ids }: LetterFilter) => sql`
  ${queue === undefined ? sql`` : sql`and queue = ${queue}`}
  ${job_name === undefined ? sql`` : sql`and job_name = ${job_name}`}
  ${tags.length === 0 ? sql`` : sql`and tags @> ${[...tags]}::text[]`}
  ${ids === undefined ? sql`` : sql`and id = any(${[...ids]}::text[])`}`;

const columns = (sql: Sql) => sql`
  id, job_id, job_name, queue, error, payload, failed_at, attempt, max_attempts, tags, tenant_id, app_id`;
