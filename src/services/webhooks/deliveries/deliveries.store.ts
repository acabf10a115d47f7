import type { Attempt, Delivery, DeliveryState } from '../../../../generated/webhooks/types.ts';
import type { Sql } from '../../../db/index.ts';
import { followsPrevious, onePage, type Window } from '../../../db/lists.ts';
import { lookEnd, resumedAt } from '../../../db/long-lists.ts';
import { isInView, type View } from '../../../db/view.ts';
import { NotFound } from '../../../lib/errors.ts';
import type { newestById } from '../newest-by-id.ts';

export interface DeliveryFilter {
  readonly endpointId?: string | undefined;
  readonly eventId?: string | undefined;
  readonly eventType?: string | undefined;
  readonly state?: DeliveryState | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** The end of an ordered page of one of the two tables. */
type DeliveryWindow = Window<typeof newestById>;

/** Every statement about deliveries as their owners see them. Those that have not ended are in a table of their own. */
export const deliveryStore = (sql: Sql) => ({
  /** A page, and where the next one goes on if this one stopped looking for deliveries that match. */
  async list(
    view: View,
    filter: DeliveryFilter,
    window: DeliveryWindow,
  ): Promise<{ rows: Delivery[]; resumed: { id: string } | undefined }> {
    const lookedTo = await endOfLook(sql, view, filter, window);
    const isLive = isOfLive(filter);
    const all = {
      ...window,
      // Each table alone may fill the page, and what is skipped of the whole may lie in either.
      limit: window.limit + window.offset,
      offset: 0,
    };
    const end = () => sql`
      where ${isInView(sql, view)} ${matches(sql, filter)} ${followsPrevious(sql, window)}
        ${lookedTo === undefined ? sql`` : sql`and id >= ${lookedTo}`}
      ${onePage(sql, all)}`;
    const live = () => sql`(select ${liveColumns(sql)} from webhooks.delivery ${end()})`;
    const done = () => sql`(select ${doneColumns(sql)} from webhooks.delivery_done ${end()})`;
    const rows = filter.state === undefined ? sql`${live()} union all ${done()}` : isLive ? live() : done();
    const found = await sql<Delivery[]>`select * from (${rows}) as both_of_them ${onePage(sql, window)}`;
    return { rows: found, resumed: resumedAt(window, found, lookedTo) };
  },

  async get(view: View, id: string): Promise<Delivery> {
    const [delivery] = await sql<Delivery[]>`
      select ${liveColumns(sql)} from webhooks.delivery where id = ${id} and ${isInView(sql, view)}
      union all
      select ${doneColumns(sql)} from webhooks.delivery_done where id = ${id} and ${isInView(sql, view)}`;
    if (!delivery) throw NotFound('delivery');
    return delivery;
  },

  /** The attempts of a delivery, the first one first. */
  async attempts({ tenant_id, id }: Pick<Delivery, 'tenant_id' | 'id'>): Promise<Attempt[]> {
    return await sql<Attempt[]>`
      select id, delivery_id, attempt, url, outcome, status_code, error, response, latency_ms, started_at from webhooks.attempt
      where tenant_id = ${tenant_id} and delivery_id = ${id} order by attempt limit 100`;
  },

  /** Makes a pending delivery due. Undefined when there is none with this id. */
  async makeDue(view: View, id: string): Promise<Delivery | undefined> {
    const [delivery] = await sql<Delivery[]>`
      update webhooks.delivery set next_attempt_at = now(), updated_at = now()
      where id = ${id} and ${isInView(sql, view)} and state = 'pending' returning ${liveColumns(sql)}`;
    return delivery;
  },
});

const isOfLive = ({ state }: DeliveryFilter) => state === 'pending' || state === 'delivering';

/** The last delivery at which a page may look. An event has few of them, and a page without a filter shows all at which it looks. */
async function endOfLook(
  sql: Sql,
  view: View,
  filter: DeliveryFilter,
  window: DeliveryWindow,
): Promise<string | undefined> {
  const { eventId, endpointId, eventType, state, from, to } = filter;
  if (eventId !== undefined || (eventType ?? state ?? from ?? to) === undefined) return undefined;
  const live = { table: sql`webhooks.delivery`, where: isInView(sql, view) };
  const ofEndpoint = endpointId === undefined ? sql`` : sql`and endpoint_id = ${endpointId}`;
  const unsuccessful = state === 'failed' || state === 'cancelled' ? sql`and state <> 'delivered'` : sql``;
  const done = {
    table: sql`webhooks.delivery_done`,
    where: sql`${isInView(sql, view)} ${ofEndpoint} ${unsuccessful}`,
  };
  return await lookEnd(sql, state === undefined ? [live, done] : [isOfLive(filter) ? live : done], window);
}

/** The columns of a delivery that has not ended. */
export const liveColumns = (sql: Sql) => sql`
  id, tenant_id, event_id, endpoint_id, event_type, state, attempt_count, max_attempts,
  case when state = 'pending' then next_attempt_at end as next_attempt_at, last_status_code, last_error, last_response,
  last_latency_ms, replay_of, null::timestamptz as completed_at, created_at, updated_at`;

const doneColumns = (sql: Sql) => sql`
  id, tenant_id, event_id, endpoint_id, event_type, state, attempt_count, max_attempts, null::timestamptz as next_attempt_at, last_status_code,
  last_error, last_response, last_latency_ms, replay_of, completed_at, created_at, updated_at`;

const matches = (sql: Sql, { endpointId, eventId, eventType, state, from, to }: DeliveryFilter) => sql`
  ${endpointId === undefined ? sql`` : sql`and endpoint_id = ${endpointId}`}
  ${eventId === undefined ? sql`` : sql`and event_id = ${eventId}`}
  ${eventType === undefined ? sql`` : sql`and event_type = ${eventType}`}
  ${state === undefined ? sql`` : sql`and state = ${state}`}
  ${from === undefined ? sql`` : sql`and created_at >= ${from}`}
  ${to === undefined ? sql`` : sql`and created_at < ${to}`}`;
