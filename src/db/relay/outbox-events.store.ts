import type { Fragment } from 'postgres';
import type { Database } from '../index.ts';
import type { Event, Written } from '../outbox.ts';
import { isAwaited } from '../outbox-readers.ts';
import type { Sql } from '../sql.ts';

/** An event as consumers get it. */
export type RelayedEvent = Event &
  Written & {
    /** The request in which it was written; null for work in the background. */
    readonly requestId: string | null;
  };

/** The outbox of a service. */
export interface Outbox {
  readonly service: string;
  /** A condition for rows of `outbox` that the service still needs after everybody has had them. */
  readonly needed?: (sql: Sql) => Fragment;
}

/** An event with its number in its outbox. */
export interface Numbered {
  readonly number: number;
  readonly event: RelayedEvent;
}

/** The most events that are in memory at once, and their size; one event may be larger. */
export const mostEvents = 500;
export const mostBytes = 4 * 1024 * 1024;

/** The names of an outbox and of a consumer. */
export interface Of {
  readonly service: string;
  readonly consumer: string;
}

/** One outbox and one consumer. */
export interface Place extends Outbox, Of {
  readonly db: Database;
}

export interface Row {
  readonly number: number;
  readonly tenant: string;
  readonly id: string;
  readonly type: string;
  readonly subject: string;
  readonly app: string;
  readonly actor: string;
  readonly time: string;
  readonly requestId: string | null;
  /** Null when the subject is held. */
  readonly data: object | null;
}

export const outboxOf = (sql: Sql, { service }: Place) => sql`${sql(`${service}.outbox`)}`;
export const own = (sql: Sql, { service, consumer }: Of) =>
  sql`service = ${service} and consumer = ${consumer}`;

/** Runs `fn` alone among all processes, and lets its statements see what those before it did. */
export const alone = <T>({ db, service }: Place, fn: (sql: Sql, lastNumber: number) => Promise<T>) =>
  db.transaction(async (sql) => {
    const [row] = await sql<[{ last: number }]>`
      select last_number as last from plinth.relay_outboxes where service = ${service} for update`;
    return fn(sql, row.last);
  });

/** Deletes those of the chosen events that nobody waits for. */
export const deleteHad = (sql: Sql, place: Place, chosen: Fragment) => sql`
  delete from ${outboxOf(sql, place)} as outbox
  where ${chosen} and not ${isAwaited(sql, place.service)}
    ${place.needed === undefined ? sql`` : sql`and not (${place.needed(sql)})`}`;

/** Some events in their order. */
export interface Following {
  readonly events: Numbered[];
  /** The number of the last one, also when it is held. */
  readonly last: number | undefined;
  /** Whether there are no more. */
  readonly all: boolean;
}

/** The first of the chosen events, without those that are held. */
export async function following(place: Place, chosen: Fragment, isHeld: Fragment): Promise<Following> {
  const sql = place.db.background;
  const rows = await sql<(Row & { readonly found: number })[]>`
    ${columns(sql, sql`case when held then null else data end`)}, found
    from (
      select *, sum(case when held then 0 else octet_length(data::text) end) over (order by relay_number) as bytes,
        row_number() over (order by relay_number) as nth, count(*) over ()::int as found
      from (
        select outbox.*, ${isHeld} as held
        from ${outboxOf(sql, place)} as outbox
        where ${chosen}
        order by relay_number limit ${mostEvents}
      ) as following
    ) as measured
    where nth = 1 or bytes <= ${mostBytes}
    order by relay_number`;
  return {
    events: numbered(place.service, rows),
    last: rows.at(-1)?.number,
    all: isAll(rows),
  };
}

/** Whether rows that were `found` and then cut for their size are all there are. */
export const isAll = (rows: readonly { readonly found: number }[]): boolean =>
  rows.length < mostEvents && rows.length === (rows[0]?.found ?? 0);

export const columns = (sql: Sql, data: Fragment) => sql`
  select relay_number as number, tenant_id as tenant, id, type, subject, app_id as app, actor, time, ${data} as data,
    request_id as "requestId"`;

export const numbered = (service: string, rows: readonly Row[]): Numbered[] =>
  rows.flatMap(({ number, tenant, id, type, subject, app, actor, time, data, requestId }) =>
    data === null
      ? []
      : [
          {
            number,
            event: { source: `/${service}`, id, time, type, subject, tenant, app, actor, data, requestId },
          },
        ],
  );
