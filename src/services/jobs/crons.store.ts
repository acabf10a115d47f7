import { constrained } from '../../db/constraints.ts';
import type { CronColumns } from '../../db/engine/crons.store.ts';
import type { Sql } from '../../db/index.ts';
import { largeRows } from '../../db/large-rows.ts';
import { followsPrevious, onePage, type Window } from '../../db/lists.ts';
import { isInView, type View } from '../../db/view.ts';
import { Conflict, NotFound } from '../../lib/errors.ts';
import { constraints } from './errors.ts';
import { limits } from './limits.ts';
import type { byId } from './lists.ts';
import type { CronRow } from './views.ts';

/** Every statement about cron entries that people make. The engine has those that fire them. */
export const cronReads = (sql: Sql) => ({
  async get(view: View, id: string): Promise<CronRow> {
    const [row] = await sql<CronRow[]>`select * from jobs.cron where id = ${id} and ${isInView(sql, view)}`;
    if (row === undefined) throw NotFound('cron entry');
    return row;
  },

  /** Locks an entry, so that it neither fires nor changes meanwhile. */
  async lock(view: View, id: string): Promise<CronRow> {
    const [row] = await sql<CronRow[]>`
      select * from jobs.cron where id = ${id} and ${isInView(sql, view)} for update`;
    if (row === undefined) throw NotFound('cron entry');
    return row;
  },

  /** A page, and where the next one goes on if this one is cut. */
  async list(
    view: View,
    window: Window<typeof byId>,
  ): Promise<{ rows: CronRow[]; cut: CronRow | undefined }> {
    const page = sql`
      select * from jobs.cron where ${isInView(sql, view)} ${followsPrevious(sql, window)} ${onePage(sql, window)}`;
    return await largeRows<CronRow>(sql, window.order, page, { of: sql`octet_length(payload::text)` });
  },

  /** Stores an entry, unless its tenant has as many as it may have. Those of one tenant are counted one after the other. */
  async insert(id: string, entry: CronColumns, next: string | null): Promise<void> {
    await sql`select pg_advisory_xact_lock(hashtextextended(${`jobs.cron/${entry.app_id}/${entry.tenant_id}`}, 0))`;
    const { count } = await constrained(
      constraints(entry.name),
      sql`
        insert into jobs.cron (${columns(sql)}, id, enabled, next_run_at)
        select ${values(sql, entry)}, ${id}, ${next !== null}, ${next}::timestamptz
        where (
          select count(*) from jobs.cron where tenant_id = ${entry.tenant_id} and app_id = ${entry.app_id}
        ) < ${limits.crons}`,
    );
    if (count === 0) throw Conflict(`tenant has ${limits.crons} cron entries`);
  },

  async update(id: string, entry: CronColumns, next: string | null): Promise<void> {
    await sql`
      update jobs.cron set
        (${columns(sql)}) = row(${values(sql, entry)}), enabled = ${next !== null}, next_run_at = ${next}::timestamptz, updated_at = now()
      where tenant_id = ${entry.tenant_id} and id = ${id}`;
  },
});

const columns = (sql: Sql) => sql`
  tenant_id, app_id, name, schedule, timezone, job_name, queue, payload, tags, rank, max_attempts, timeout_ms, backoff_type,
  backoff_delay_ms, backoff_max_ms, misfire, overlap`;

const values = (sql: Sql, entry: CronColumns) => sql`
  ${entry.tenant_id}, ${entry.app_id}, ${entry.name}, ${entry.schedule}, ${entry.timezone}, ${entry.job_name}, ${entry.queue},
  ${entry.payload}::text::json, ${[...entry.tags]}::text[], ${entry.rank}::smallint, ${entry.max_attempts}::smallint,
  ${entry.timeout_ms}::integer, ${entry.backoff_type}, ${entry.backoff_delay_ms}::integer, ${entry.backoff_max_ms}::integer,
  ${entry.misfire}, ${entry.overlap}`;
