import type { Fragment } from 'postgres';
import type { Database } from '../index.ts';
import type { Event, Written } from '../outbox.ts';
import { forgottenDays, isAwaited } from '../outbox-readers.ts';
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

/** A subject whose events a consumer does not get for now, from this number on. */
export interface Held {
  readonly tenant: string;
  readonly subject: string;
  readonly number: number;
}

export interface DueSubject extends Held {
  readonly failures: number;
}

/** A tenant whose events a consumer does not get for now, from this number on. */
export interface DueTenant {
  readonly tenant: string;
  readonly number: number;
  readonly failures: number;
}

/** The most events that one statement numbers. */
const mostNumbered = 1_000;
/** The most events that are in memory at once, and their size; one event may be larger. */
const mostEvents = 500;
const mostBytes = 4 * 1024 * 1024;
const mostDue = 50;
/**
 * The failed subjects of a tenant with which the tenant is put aside as a whole, until one of them succeeds. So what fails of one tenant
 * can neither grow without bounds nor take the time in which the events of others could be handed on.
 */
const mostHeldOfTenant = 100;
const mostDueTenants = 10;

interface Row {
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
    const own = sql`service = ${service} and consumer = ${consumer}`;
    return sql`${at === 0 ? sql`` : sql`union all`}
      select ${service}::text as service, exists (select from ${outbox} where relay_number is null)
        or exists (
          select from ${outbox} where relay_number > (select reached from plinth.relay_positions where ${own})
        )
        or exists (select from plinth.relay_held where ${own} and retry_at <= now())
        or exists (select from plinth.relay_held_tenants as held where ${own} and ${isDueTenant(sql, service, consumer)}) as news`;
  });
  const rows = await sql<{ service: string }[]>`select service from (${asked}) as asked where news`;
  return new Set(rows.map(({ service }) => service));
}

/** One outbox and one consumer. */
interface Place extends Outbox {
  readonly db: Database;
  readonly consumer: string;
}

/** Every statement about one outbox and one consumer. */
export const passageStore = (db: Database, outbox: Outbox, consumer: string) => {
  const place = { ...outbox, db, consumer };
  return {
    ...numbering(place),
    ...newEvents(place),
    ...heldEvents(place),
    ...heldTenants(place),
    ...progress(place),
  };
};

const outboxOf = (sql: Sql, { service }: Place) => sql`${sql(`${service}.outbox`)}`;
const own = (sql: Sql, { service, consumer }: Place) => sql`service = ${service} and consumer = ${consumer}`;

/** Runs `fn` alone among all processes, and lets its statements see what those before it did. */
const alone = <T>({ db, service }: Place, fn: (sql: Sql, lastNumber: number) => Promise<T>) =>
  db.transaction(async (sql) => {
    const [row] = await sql<[{ last: number }]>`
      select last_number as last from plinth.relay_outboxes where service = ${service} for update`;
    return fn(sql, row.last);
  });

/** Deletes those of the chosen events that nobody waits for. */
const deleteHad = (sql: Sql, place: Place, chosen: Fragment) => sql`
  delete from ${outboxOf(sql, place)} as outbox
  where ${chosen} and not ${isAwaited(sql, place.service)}
    ${place.needed === undefined ? sql`` : sql`and not (${place.needed(sql)})`}`;

const numbering = (place: Place) => ({
  /** Numbers the next new events, in the order in which they were written. Not all of them: writers may be faster. */
  async number(): Promise<void> {
    if (await hasUnnumbered(place.db.background, outboxOf(place.db.background, place)))
      await alone(place, (sql, last) => numberNext(sql, outboxOf(sql, place), place.service, last));
  },
});

function newEvents(place: Place) {
  const { db, service, consumer } = place;
  return {
    /** What the consumer has had, and the number of subjects and tenants that are held. */
    async standing(): Promise<{ readonly reached: number; readonly held: number }> {
      const mine = own(db.background, place);
      const [row] = await db.background<[{ reached: number; held: number }]>`
        select reached, (select count(*)::int from plinth.relay_held where ${mine})
          + (select count(*)::int from plinth.relay_held_tenants where ${mine}) as held
        from plinth.relay_positions where ${mine}`;
      return row;
    },

    /** The next events after a number, and the number of the last of them. Events of held subjects and tenants are passed over. */
    async next(after: number): Promise<{ readonly events: Numbered[]; readonly last: number | undefined }> {
      const sql = db.background;
      const isHeld = sql`
        ${isHeldSubject(sql, place)} or exists (
          select from plinth.relay_held_tenants as held
          where held.service = ${service} and held.consumer = ${consumer} and held.tenant_id = outbox.tenant_id
        )`;
      const rows = await following(place, sql`relay_number > ${after}`, isHeld);
      return { events: numbered(service, rows), last: rows.at(-1)?.number };
    },
  };
}

const isHeldSubject = (sql: Sql, { service, consumer }: Place) => sql`
  exists (
    select from plinth.relay_held as held
    where held.service = ${service} and held.consumer = ${consumer}
      and held.tenant_id = outbox.tenant_id and held.subject = outbox.subject
  )`;

/** The first of the chosen events, and how many there were before they were cut for their size. Those that are held have no data. */
async function following(
  place: Place,
  chosen: Fragment,
  isHeld: Fragment,
): Promise<(Row & { readonly found: number })[]> {
  const sql = place.db.background;
  return await sql<(Row & { readonly found: number })[]>`
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
}

function heldEvents(place: Place) {
  const { db, service } = place;
  return {
    /** The held subjects that are to be tried again. */
    async due(): Promise<DueSubject[]> {
      const sql = db.background;
      return await sql<DueSubject[]>`
        select tenant_id as tenant, subject, number, failures from plinth.relay_held
        where ${own(sql, place)} and retry_at <= now() order by retry_at limit ${mostDue}`;
    },

    /** The first events that held subjects wait for, up to the number that the consumer has reached. */
    async waiting(subjects: readonly Held[], reached: number): Promise<{ events: Numbered[]; all: boolean }> {
      const sql = db.background;
      const rows = await sql<(Row & { found: number })[]>`
        ${columns(sql, sql`data`)}, found
        from (
          select outbox.*, sum(octet_length(data::text)) over (order by relay_number) as bytes,
            row_number() over (order by relay_number) as nth, count(*) over ()::int as found
          from (
            select outbox.* from unnest(
              ${subjects.map(({ tenant }) => tenant)}::text[],
              ${subjects.map(({ subject }) => subject)}::text[],
              ${subjects.map(({ number }) => number)}::bigint[]
            ) as due(tenant_id, subject, number)
            join ${outboxOf(sql, place)} as outbox on outbox.tenant_id = due.tenant_id and outbox.subject = due.subject
              and outbox.relay_number >= due.number
            where outbox.relay_number <= ${reached}
            order by outbox.relay_number limit ${mostEvents}
          ) as outbox
        ) as measured
        where nth = 1 or bytes <= ${mostBytes}
        order by relay_number`;
      const found = rows[0]?.found ?? 0;
      return { events: numbered(service, rows), all: rows.length === found && found < mostEvents };
    },

    async putOff({ tenant, subject }: Held, retryMs: number): Promise<void> {
      const sql = db.background;
      await sql`
        update plinth.relay_held
        set failures = failures + 1, retry_at = now() + ${retryMs} * interval '1 millisecond'
        where ${own(sql, place)} and tenant_id = ${tenant} and subject = ${subject}`;
    },
  };
}

/** Whether fewer subjects of a held tenant fail than those with which it was put aside, and it is time to try its events again. */
const isDueTenant = (sql: Sql, service: string, consumer: string) => sql`
  held.retry_at <= now() and (
    select count(*) from plinth.relay_held as failed
    where failed.service = ${service} and failed.consumer = ${consumer} and failed.tenant_id = held.tenant_id
  ) < ${mostHeldOfTenant}`;

function heldTenants(place: Place) {
  const { db, service, consumer } = place;
  return {
    /** The held tenants whose events are to be tried again. */
    async dueTenants(): Promise<DueTenant[]> {
      const sql = db.background;
      return await sql<DueTenant[]>`
        select tenant_id as tenant, number, failures from plinth.relay_held_tenants as held
        where ${own(sql, place)} and ${isDueTenant(sql, service, consumer)} order by retry_at limit ${mostDueTenants}`;
    },

    /** The first events that a held tenant waits for, up to the number that the consumer has reached; those of held subjects are passed over. */
    async waitingOf(
      { tenant, number }: DueTenant,
      reached: number,
    ): Promise<{ readonly events: Numbered[]; readonly last: number | undefined; readonly all: boolean }> {
      const sql = db.background;
      const chosen = sql`outbox.tenant_id = ${tenant} and relay_number between ${number} and ${reached}`;
      const rows = await following(place, chosen, isHeldSubject(sql, place));
      const found = rows[0]?.found ?? 0;
      return {
        events: numbered(service, rows),
        last: rows.at(-1)?.number,
        all: rows.length === found && found < mostEvents,
      };
    },

    async putOffTenant({ tenant }: DueTenant, retryMs: number): Promise<void> {
      const sql = db.background;
      await sql`
        update plinth.relay_held_tenants
        set failures = failures + 1, retry_at = now() + ${retryMs} * interval '1 millisecond'
        where ${own(sql, place)} and tenant_id = ${tenant}`;
    },

    /**
     * Notes that the consumer has had the events of a held tenant up to a number, except those of these subjects. With the last one that
     * the consumer has reached, the tenant is held no longer, unless too many of its subjects fail. False if the consumer has reached
     * more since: another process may have passed over further events.
     */
    goOn: (
      { tenant, number }: DueTenant,
      to: number,
      failed: readonly Held[],
      retryMs: number,
      reached: number,
    ): Promise<boolean> =>
      alone(place, async (sql) => {
        const where = sql`${own(sql, place)} and tenant_id = ${tenant} and number = ${number}`;
        const moved = await sql`
          update plinth.relay_held_tenants set number = ${to + 1}, failures = 0, retry_at = now()
          where ${where} and exists (
            select from plinth.relay_positions where ${own(sql, place)} and reached = ${reached}
          )
          returning number`;
        if (moved.length === 0) return false;
        await hold(sql, place, failed, retryMs);
        if (to === reached)
          await sql`
            delete from plinth.relay_held_tenants as held
            where ${own(sql, place)} and tenant_id = ${tenant} and ${isDueTenant(sql, service, consumer)}`;
        await deleteHad(
          sql,
          place,
          sql`outbox.tenant_id = ${tenant} and outbox.relay_number between ${number} and ${to}`,
        );
        return true;
      }),
  };
}

const hold = (sql: Sql, place: Place, failed: readonly Held[], retryMs: number) => sql`
  insert into plinth.relay_held (service, consumer, tenant_id, subject, number, retry_at)
  select ${place.service}, ${place.consumer}, tenant_id, subject, number, now() + ${retryMs} * interval '1 millisecond'
  from unnest(
    ${failed.map(({ tenant }) => tenant)}::text[],
    ${failed.map(({ subject }) => subject)}::text[],
    ${failed.map(({ number }) => number)}::bigint[]
  ) as failed(tenant_id, subject, number)`;

/** Puts aside those of these tenants of which too many subjects fail, from a number on. */
const holdTenants = (sql: Sql, place: Place, tenants: readonly string[], from: number) => sql`
  insert into plinth.relay_held_tenants (service, consumer, tenant_id, number)
  select service, consumer, tenant_id, ${from} from plinth.relay_held
  where ${own(sql, place)} and tenant_id = any(${tenants as string[]}::text[])
  group by service, consumer, tenant_id having count(*) >= ${mostHeldOfTenant}
  on conflict do nothing`;

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

  /**
   * Notes that the consumer has had these events of a held subject, and whether it waits for more, as of the number that the consumer had
   * reached. False if it has reached more since: another process may have passed over further events of the subject.
   */
  release: (held: Held, had: readonly number[], more: boolean, reached: number): Promise<boolean> =>
    alone(place, async (sql) => {
      const { tenant, subject, number } = held;
      const standing = await sql`
        select from plinth.relay_positions where ${own(sql, place)} and reached = ${reached}`;
      if (standing.length === 0) return false;
      const where = sql`${own(sql, place)} and tenant_id = ${tenant} and subject = ${subject} and number = ${number}`;
      if (more) {
        const following = (had.at(-1) ?? number - 1) + 1;
        await sql`update plinth.relay_held set number = ${following}, failures = 0, retry_at = now() where ${where}`;
      } else await sql`delete from plinth.relay_held where ${where}`;
      await deleteHad(sql, place, sql`outbox.relay_number = any(${had as number[]}::bigint[])`);
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

const columns = (sql: Sql, data: Fragment) => sql`
  select relay_number as number, tenant_id as tenant, id, type, subject, app_id as app, actor, time, ${data} as data,
    request_id as "requestId"`;

const numbered = (service: string, rows: readonly Row[]): Numbered[] =>
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
