import type { Fragment } from 'postgres';
import type { Database } from '../index.ts';
import { forgottenDays } from '../outbox-readers.ts';
import type { Sql } from '../sql.ts';
import {
  type Held,
  heldSubjects,
  heldTenants,
  hasDue,
  heldCount,
  hold,
  holdTenants,
  isHeld,
} from './held.store.ts';
import {
  alone,
  deleteHad,
  type Following,
  following,
  type Outbox,
  outboxOf,
  own,
  type Place,
} from './outbox-events.store.ts';

export type { DueTenant, Held } from './held.store.ts';
export type { Numbered, Outbox, RelayedEvent } from './outbox-events.store.ts';

/** The most events that one statement numbers. */
const mostNumbered = 1_000;

/** A consumer that may have missed events of a service, because nobody had run it for so long that it was forgotten. */
export interface Forgotten {
  readonly service: string;
  readonly consumer: string;
}

/**
 * Notes that these consumers run, so that events are kept for them, and returns those that had been forgotten. All consumers of a
 * process are noted at once: each begins with the oldest event that is stored, so none may delete what another one was to begin with.
 */
export async function register(
  sql: Sql,
  services: readonly string[],
  consumers: readonly string[],
): Promise<Forgotten[]> {
  const [outboxes, readers] = [services as string[], consumers as string[]];
  await sql`insert into plinth.relay_outboxes (service) select unnest(${outboxes}::text[]) on conflict do nothing`;
  return await sql<Forgotten[]>`
    with forgotten as (
      select service, consumer from plinth.relay_positions
      where consumer = any(${readers}::text[]) and service = any(${outboxes}::text[])
        and seen_at < now() - ${forgottenDays} * interval '1 day'
    ), seen as (
      insert into plinth.relay_positions as known (service, consumer)
      select service, consumer from unnest(${outboxes}::text[]) as service, unnest(${readers}::text[]) as consumer
      order by service, consumer
      on conflict (service, consumer) do update set seen_at = now()
      where known.seen_at < now() - interval '1 minute'
    )
    select service, consumer from forgotten order by service, consumer`;
}

/** The services that have events for a consumer: new ones, or those of a held subject that is to be tried again. One statement finds them. */
export async function withNews(
  sql: Sql,
  services: readonly string[],
  consumer: string,
): Promise<ReadonlySet<string>> {
  if (services.length === 0) return new Set();
  const asked = services.map((service, at) => {
    const outbox = sql(`${service}.outbox`);
    const place = { service, consumer };
    return sql`${at === 0 ? sql`` : sql`union all`}
      select ${service}::text as service, exists (select from ${outbox} where relay_number is null)
        or exists (
          select from ${outbox} where relay_number > (select reached from plinth.relay_positions where ${own(sql, place)})
        )
        or ${hasDue(sql, place)} as news`;
  });
  const rows = await sql<{ service: string }[]>`select service from (${asked}) as asked where news`;
  return new Set(rows.map(({ service }) => service));
}

/** Every statement about one outbox and one consumer. */
export const passageStore = (db: Database, outbox: Outbox, consumer: string) => {
  const place = { ...outbox, db, consumer };
  return {
    ...numbering(place),
    ...newEvents(place),
    ...heldSubjects(place),
    ...heldTenants(place),
    ...progress(place),
  };
};

const numbering = (place: Place) => ({
  /** Numbers the next new events, in the order in which they were written. Not all of them: writers may be faster. */
  async number(): Promise<void> {
    if (await hasUnnumbered(place.db.background, outboxOf(place.db.background, place)))
      await alone(place, (sql, last) => numberNext(sql, outboxOf(sql, place), place.service, last));
  },
});

function newEvents(place: Place) {
  const { db } = place;
  return {
    /** What the consumer has had, and the number of subjects and tenants that are held. */
    async standing(): Promise<{ readonly reached: number; readonly held: number }> {
      const sql = db.background;
      const [row] = await sql<[{ reached: number; held: number }]>`
        select reached, ${heldCount(sql, place)} as held from plinth.relay_positions where ${own(sql, place)}`;
      return row;
    },

    /** The next events after a number. Events of held subjects and tenants are passed over. */
    next(after: number): Promise<Following> {
      const sql = db.background;
      return following(place, sql`relay_number > ${after}`, isHeld(sql, place));
    },
  };
}

const progress = (place: Place) => ({
  /** Notes that the consumer has had everything up to a number, except the held subjects. False if another process did so. */
  advance: (from: number, to: number, held: readonly Held[], retryMs: number): Promise<boolean> =>
    alone(place, async (sql) => {
      const moved = await sql`
          update plinth.relay_positions set reached = ${to} where ${own(sql, place)} and reached = ${from} returning reached`;
      if (moved.length === 0) return false;
      await hold(sql, place, held, retryMs);
      await holdTenants(sql, place, [...new Set(held.map(({ tenant }) => tenant))], to + 1);
      await deleteHad(sql, place, sql`outbox.relay_number > ${from} and outbox.relay_number <= ${to}`);
      return true;
    }),
});

export type PassageStore = ReturnType<typeof passageStore>;

async function hasUnnumbered(sql: Sql, outbox: Fragment): Promise<boolean> {
  const [row] = await sql<[{ some: boolean }]>`
    select exists (select from ${outbox} where relay_number is null) as some`;
  return row.some;
}

const numberNext = (sql: Sql, outbox: Fragment, service: string, last: number) => sql`
  with fresh as materialized (
    select tenant_id, seq, row_number() over (order by seq) as nth
    from (
      select tenant_id, seq from ${outbox} where relay_number is null order by seq limit ${mostNumbered}
    ) as unnumbered
  ), done as (
    update ${outbox} as outbox set relay_number = ${last} + fresh.nth
    from fresh where outbox.tenant_id = fresh.tenant_id and outbox.seq = fresh.seq
  )
  update plinth.relay_outboxes set last_number = ${last} + (select count(*) from fresh) where service = ${service}`;
