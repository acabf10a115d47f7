import type { Sql } from '../sql.ts';
import {
  alone,
  columns,
  deleteHad,
  type Following,
  following,
  isAll,
  mostBytes,
  mostEvents,
  numbered,
  type Numbered,
  type Of,
  outboxOf,
  own,
  type Place,
  type Row,
} from './outbox-events.store.ts';

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

const mostDue = 50;
/**
 * The failed subjects of a tenant with which the tenant is put aside as a whole, until one of them succeeds. So what fails of one tenant
 * can neither grow without bounds nor take the time in which the events of others could be handed on.
 */
const mostHeldOfTenant = 100;
const mostDueTenants = 10;

/** Every statement about the held subjects of one outbox and one consumer. */
export function heldSubjects(place: Place) {
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
      return { events: numbered(service, rows), all: isAll(rows) };
    },

    async putOff({ tenant, subject }: Held, retryMs: number): Promise<void> {
      const sql = db.background;
      await sql`
        update plinth.relay_held
        set failures = failures + 1, retry_at = now() + ${retryMs} * interval '1 millisecond'
        where ${own(sql, place)} and tenant_id = ${tenant} and subject = ${subject}`;
    },

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
  };
}

const isHeldSubject = (sql: Sql, { service, consumer }: Place) => sql`
  exists (
    select from plinth.relay_held as held
    where held.service = ${service} and held.consumer = ${consumer}
      and held.tenant_id = outbox.tenant_id and held.subject = outbox.subject
  )`;

/** Whether fewer subjects of a held tenant fail than those with which it was put aside, and it is time to try its events again. */
const isDueTenant = (sql: Sql, { service, consumer }: Of) => sql`
  held.retry_at <= now() and (
    select count(*) from plinth.relay_held as failed
    where failed.service = ${service} and failed.consumer = ${consumer} and failed.tenant_id = held.tenant_id
  ) < ${mostHeldOfTenant}`;

/** Whether an event of `outbox` is passed over, because its subject or its tenant is held. */
export const isHeld = (sql: Sql, place: Place) => sql`
  ${isHeldSubject(sql, place)} or exists (
    select from plinth.relay_held_tenants as held
    where held.service = ${place.service} and held.consumer = ${place.consumer} and held.tenant_id = outbox.tenant_id
  )`;

/** How many subjects and tenants are held. */
export const heldCount = (sql: Sql, place: Of) => sql`
  (select count(*)::int from plinth.relay_held where ${own(sql, place)})
    + (select count(*)::int from plinth.relay_held_tenants where ${own(sql, place)})`;

/** Whether a subject or a tenant is to be tried again. */
export const hasDue = (sql: Sql, place: Of) => sql`
  (
    exists (select from plinth.relay_held where ${own(sql, place)} and retry_at <= now())
    or exists (select from plinth.relay_held_tenants as held where ${own(sql, place)} and ${isDueTenant(sql, place)})
  )`;

/** Every statement about the held tenants of one outbox and one consumer. */
export function heldTenants(place: Place) {
  const { db } = place;
  return {
    /** The held tenants whose events are to be tried again. */
    async dueTenants(): Promise<DueTenant[]> {
      const sql = db.background;
      return await sql<DueTenant[]>`
        select tenant_id as tenant, number, failures from plinth.relay_held_tenants as held
        where ${own(sql, place)} and ${isDueTenant(sql, place)} order by retry_at limit ${mostDueTenants}`;
    },

    /** The first events that a held tenant waits for, up to the number that the consumer has reached; those of held subjects are passed over. */
    waitingOf({ tenant, number }: DueTenant, reached: number): Promise<Following> {
      const sql = db.background;
      const chosen = sql`outbox.tenant_id = ${tenant} and relay_number between ${number} and ${reached}`;
      return following(place, chosen, isHeldSubject(sql, place));
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
            where ${own(sql, place)} and tenant_id = ${tenant} and ${isDueTenant(sql, place)}`;
        await deleteHad(
          sql,
          place,
          sql`outbox.tenant_id = ${tenant} and outbox.relay_number between ${number} and ${to}`,
        );
        return true;
      }),
  };
}

/** Puts these subjects aside. */
export const hold = (sql: Sql, place: Place, failed: readonly Held[], retryMs: number) => sql`
  insert into plinth.relay_held (service, consumer, tenant_id, subject, number, retry_at)
  select ${place.service}, ${place.consumer}, tenant_id, subject, number, now() + ${retryMs} * interval '1 millisecond'
  from unnest(
    ${failed.map(({ tenant }) => tenant)}::text[],
    ${failed.map(({ subject }) => subject)}::text[],
    ${failed.map(({ number }) => number)}::bigint[]
  ) as failed(tenant_id, subject, number)`;

/** Puts aside those of these tenants of which too many subjects fail, from a number on. */
export const holdTenants = (sql: Sql, place: Place, tenants: readonly string[], from: number) => sql`
  insert into plinth.relay_held_tenants (service, consumer, tenant_id, number)
  select service, consumer, tenant_id, ${from} from plinth.relay_held
  where ${own(sql, place)} and tenant_id = any(${tenants as string[]}::text[])
  group by service, consumer, tenant_id having count(*) >= ${mostHeldOfTenant}
  on conflict do nothing`;
