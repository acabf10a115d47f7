import type { Event } from '../../../../generated/webhooks/types.ts';
import type { Sql } from '../../../db/index.ts';
import { followsPrevious, onePage, type Window } from '../../../db/lists.ts';
import { isInView, type View } from '../../../db/view.ts';
import { NotFound } from '../../../lib/errors.ts';
import { firstIdAt } from '../event-ids.ts';
import type { newestById } from '../newest-by-id.ts';

export interface EventFilter {
  readonly type: string | undefined;
  readonly from: string | undefined;
  readonly to: string | undefined;
}

/** Every statement that reads events. */
export const eventStore = (sql: Sql) => ({
  async get(view: View, id: string): Promise<Event> {
    const [event] = await sql<Event[]>`
      select ${eventColumns(sql)} from webhooks.event where id = ${id} and ${isInView(sql, view)}`;
    if (!event) throw NotFound('event');
    return event;
  },

  /** Returns events newest first, and one more than `limit` when more follow. A period is a range of ids. */
  async list(
    view: View,
    { type, from, to }: EventFilter,
    window: Window<typeof newestById>,
  ): Promise<Event[]> {
    return await sql<Event[]>`
      select ${eventColumns(sql)} from webhooks.event
      where ${isInView(sql, view)}
        ${type === undefined ? sql`` : sql`and type = ${type}`}
        ${from === undefined ? sql`` : sql`and id >= ${firstIdAt(from)}`}
        ${to === undefined ? sql`` : sql`and id < ${firstIdAt(to)}`}
        ${followsPrevious(sql, window)}
      ${onePage(sql, window)}`;
  },
});

type Fragment = ReturnType<Sql>;

/** The columns of an event; `of` is the name of its table with a dot, where others have the columns too. */
export const eventColumns = (sql: Sql, of: Fragment = sql``) => sql`
  ${of}id, ${of}type, ${of}tenant_id, ${of}app_id, ${of}data, ${of}idempotency_key, ${of}order_key, ${of}channels, ${of}delivery_count,
  ${of}created_at`;
