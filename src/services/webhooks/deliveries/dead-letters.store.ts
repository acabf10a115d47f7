import type { DeadLetter, Delivery } from '../../../../generated/webhooks/types.ts';
import type { Sql } from '../../../db/index.ts';
import { largeRows } from '../../../db/large-rows.ts';
import { followsPrevious, onePage, type Window } from '../../../db/lists.ts';
import { lookEnd, resumedAt } from '../../../db/long-lists.ts';
import { isInView, type View } from '../../../db/view.ts';
import { NotFound } from '../../../lib/errors.ts';
import { newId } from '../../../lib/ids.ts';
import type { newestById } from '../newest-by-id.ts';
import { liveColumns } from './deliveries.store.ts';

export interface DeadLetterFilter {
  readonly endpointId?: string | undefined;
  readonly eventType?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** What a replay made of a dead letter. */
export interface Replayed {
  readonly letterId: string;
  readonly delivery: Delivery;
}

/** Every statement about dead letters. */
export const deadLetterStore = (sql: Sql) => ({
  /**
   * A page, and where the next one goes on if this one is cut, or stopped looking for entries that match. The newest failure is the
   * first one, which is the order of the ids: an entry is made when its delivery fails.
   */
  async list(
    view: View,
    filter: DeadLetterFilter,
    window: Window<typeof newestById>,
  ): Promise<{ rows: DeadLetter[]; resumed: { id: string } | undefined }> {
    const end = await lookEndOf(sql, view, filter, window);
    const page = sql`
      select ${columns(sql)} from webhooks.dlq
      where ${isInView(sql, view)} ${matches(sql, filter)} ${followsPrevious(sql, window)}
        ${end === undefined ? sql`` : sql`and id >= ${end}`}
      ${onePage(sql, window)}`;
    const size = { of: sql`octet_length(payload::text)` };
    const { rows, cut } = await largeRows<DeadLetter>(sql, window.order, page, size);
    return { rows, resumed: cut ?? resumedAt(window, rows, end) };
  },

  async count(view: View): Promise<number> {
    const [{ count }] = await sql<[{ count: number }]>`
      select coalesce(sum(amount), 0)::bigint as count from webhooks.tally where ${isInView(sql, view)} and kind = 'dlq'`;
    return count;
  },

  async get(view: View, id: string): Promise<DeadLetter> {
    const [letter] = await sql<DeadLetter[]>`
      select ${columns(sql)} from webhooks.dlq where id = ${id} and ${isInView(sql, view)}`;
    if (!letter) throw NotFound('dlq entry');
    return letter;
  },

  async delete(view: View, id: string): Promise<void> {
    const [letter] = await sql`
      delete from webhooks.dlq where id = ${id} and ${isInView(sql, view)} returning id`;
    if (!letter) throw NotFound('dlq entry');
  },

  /** Deletes what failed longer ago than this, and returns how many that were. */
  async purge(
    view: View,
    { olderThanMs, endpointId }: { olderThanMs: number; endpointId: string | undefined },
  ): Promise<number> {
    const [{ count }] = await sql<[{ count: number }]>`
      with purged as (
        delete from webhooks.dlq
        where ${isInView(sql, view)} ${matches(sql, { endpointId })}
          and failed_at <= statement_timestamp() - ${olderThanMs}::float8 * interval '1 millisecond'
        returning id
      )
      select count(*) as count from purged`;
    return count;
  },

  /** The oldest dead letters that match and can be replayed. */
  async oldest(view: View, filter: DeadLetterFilter, most: number): Promise<string[]> {
    const rows = await sql<{ id: string }[]>`
      select id from webhooks.dlq where ${isInView(sql, view)} ${matches(sql, filter)} and ${isReplayable(sql)}
      order by id limit ${most}`;
    return rows.map(({ id }) => id);
  },

  /** How many dead letters match and can be replayed. */
  async matching(view: View, filter: DeadLetterFilter): Promise<number> {
    const [{ count }] = await sql<[{ count: number }]>`
      select count(*) as count from webhooks.dlq where ${isInView(sql, view)} ${matches(sql, filter)} and ${isReplayable(sql)}`;
    return count;
  },

  /**
   * Replaces dead letters with new deliveries of the same events to the same endpoints. One statement: of two replays of an entry, one
   * finds it deleted. What does not exist, or whose endpoint is deleted, is left out.
   */
  async replay(view: View, ids: readonly string[]): Promise<Replayed[]> {
    const rows = await sql<(Delivery & { letter_id: string })[]>`
      with taken as (
        delete from webhooks.dlq using webhooks.endpoint
        where dlq.id = any(${[...ids]}::text[]) and ${isSeen(sql, view)}
          and endpoint.tenant_id = dlq.tenant_id and endpoint.id = dlq.endpoint_id and endpoint.deleted_at is null
        returning dlq.id as letter_id, dlq.tenant_id, dlq.app_id, dlq.event_id, dlq.endpoint_id, dlq.event_type, dlq.delivery_id,
          endpoint.max_attempts
      ),
      made as (
        insert into webhooks.delivery (tenant_id, id, app_id, event_id, endpoint_id, event_type, max_attempts, replay_of)
        select tenant_id, given.new_id, app_id, event_id, endpoint_id, event_type, max_attempts, delivery_id
        from taken join unnest(${[...ids]}::text[], ${ids.map(() => newId('del'))}::text[]) as given(letter_id, new_id) using (letter_id)
        returning *
      )
      select letter_id, replayed.* from (select ${liveColumns(sql)} from made) as replayed
      join taken on taken.delivery_id = replayed.replay_of
      order by letter_id`;
    return rows.map(({ letter_id: letterId, ...delivery }) => ({ letterId, delivery }));
  },
});

const columns = (sql: Sql) => sql`
  id, delivery_id, event_id, endpoint_id, event_type, tenant_id, url, payload, error, attempt_count, last_status_code, failed_at,
  failed_at as created_at`;

/** The last entry at which a page may look. Of a tenant there is an index by endpoint. */
async function lookEndOf(
  sql: Sql,
  view: View,
  { endpointId, eventType, from, to }: DeadLetterFilter,
  window: Window<typeof newestById>,
): Promise<string | undefined> {
  const isIndexed = view.tenant !== undefined;
  const others = eventType ?? from ?? to ?? (isIndexed ? undefined : endpointId);
  if (others === undefined) return undefined;
  const indexed = isIndexed ? matches(sql, { endpointId }) : sql``;
  return await lookEnd(
    sql,
    [{ table: sql`webhooks.dlq`, where: sql`${isInView(sql, view)} ${indexed}` }],
    window,
  );
}

const matches = (sql: Sql, { endpointId, eventType, from, to }: DeadLetterFilter) => sql`
  ${endpointId === undefined ? sql`` : sql`and endpoint_id = ${endpointId}`}
  ${eventType === undefined ? sql`` : sql`and event_type = ${eventType}`}
  ${from === undefined ? sql`` : sql`and failed_at >= ${from}`}
  ${to === undefined ? sql`` : sql`and failed_at < ${to}`}`;

const isReplayable = (sql: Sql) => sql`
  exists (
    select from webhooks.endpoint
    where endpoint.tenant_id = dlq.tenant_id and endpoint.id = dlq.endpoint_id and endpoint.deleted_at is null
  )`;

/** As `isInView`, where two tables have the columns. */
const isSeen = (sql: Sql, { app, tenant }: View) =>
  tenant === undefined ? sql`dlq.app_id = ${app}` : sql`dlq.app_id = ${app} and dlq.tenant_id = ${tenant}`;
