import type { Event } from '../../../../generated/webhooks/types.ts';
import type { Sql } from '../../../db/index.ts';
import { largeRows } from '../../../db/large-rows.ts';
import { followsPrevious, onePage, type Window } from '../../../db/lists.ts';
import { lookEnd, resumedAt } from '../../../db/long-lists.ts';
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

  /**
   * A page, newest first, and where the next one goes on if this one is cut, or stopped looking for events that match. A period is a
   * range of ids, and of a tenant there is an index by type.
   */
  async list(
    view: View,
    { type, from, to }: EventFilter,
    window: Window<typeof newestById>,
  ): Promise<{ rows: Event[]; resumed: { id: string } | undefined }> {
    const indexed = sql`
      ${isInView(sql, view)}
      ${from === undefined ? sql`` : sql`and id >= ${firstIdAt(from)}`}
      ${to === undefined ? sql`` : sql`and id < ${firstIdAt(to)}`}`;
    const isRare = type !== undefined && view.tenant === undefined;
    const end = isRare
      ? await lookEnd(sql, [{ table: sql`webhooks.event`, where: indexed }], window)
      : undefined;
    const page = sql`
      select ${eventColumns(sql)} from webhooks.event
      where ${indexed}
        ${type === undefined ? sql`` : sql`and type = ${type}`}
        ${end === undefined ? sql`` : sql`and id >= ${end}`}
        ${followsPrevious(sql, window)}
      ${onePage(sql, window)}`;
    const size = { of: sql`octet_length(data::text)` };
    const { rows, cut } = await largeRows<Event>(sql, window.order, page, size);
    return { rows, resumed: cut ?? resumedAt(window, rows, end) };
  },
});

type Fragment = ReturnType<Sql>;

/** The columns of an event; `of` is the name of its table with a dot, where others have the columns too. */
export const eventColumns = (sql: Sql, of: Fragment = sql``) => sql`
  ${of}id, ${of}type, ${of}tenant_id, ${of}app_id, ${of}data, ${of}idempotency_key, ${of}order_key, ${of}channels, ${of}delivery_count,
  ${of}created_at`;
