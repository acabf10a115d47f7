import { newId } from '../lib/ids.ts';
import { currentRequestId } from '../lib/request-scope.ts';
import type { Sql } from './sql.ts';

/**
 * An event as other services and the tenants' webhooks will see it, with the members of a CloudEvents 1.0 event.
 * `data` never holds a secret.
 */
export interface Event {
  /** `/<service>`; the event is written to that service's outbox. */
  source: `/${string}`;
  /** The name of the event: `<service>.<resource>.<verb>`. */
  type: string;
  /** The id of the resource that the event is about. Events of one subject are forwarded in order. */
  subject: string;
  tenant: string;
  app: string;
  actor: string;
  data: object;
}

/** The id and the time that an event got when it was written. */
export interface Written {
  readonly id: string;
  readonly time: string;
}

/**
 * Writes events in the caller's transaction, so that they exist exactly when the change does, and returns their ids and times in
 * the same order. All events of one call must have the same source. The service declares the table `outbox` (`standard-tables.ts`).
 */
export async function emit(sql: Sql, ...events: readonly [Event, ...Event[]]): Promise<Written[]> {
  const { source } = events[0];
  if (events.some((event) => event.source !== source))
    throw new TypeError('events of one call have one source');
  const column = (of: (event: Event) => string) => events.map(of);
  return await sql<Written[]>`
    insert into ${sql(`${source.slice(1)}.outbox`)} (tenant_id, id, type, subject, app_id, actor, data, request_id)
    select tenant_id, id, type, subject, app_id, actor, data::jsonb, ${currentRequestId()}
    from unnest(
      ${column(({ tenant }) => tenant)}::text[],
      ${column(() => newId('evt'))}::text[],
      ${column(({ type }) => type)}::text[],
      ${column(({ subject }) => subject)}::text[],
      ${column(({ app }) => app)}::text[],
      ${column(({ actor }) => actor)}::text[],
      ${column(({ data }) => JSON.stringify(data))}::text[]
    ) with ordinality as event(tenant_id, id, type, subject, app_id, actor, data, position)
    order by position
    returning id, time
  `;
}
