import type { Sql } from '../sql.ts';

/** What one consumer has not had of one outbox. */
export interface Backlog {
  readonly service: string;
  readonly consumer: string;
  /** About how many events follow the last one that it was handed. */
  readonly waiting: number;
  /** Seconds since the oldest of them was written, or one that a held subject waits for; 0 when there is none. */
  readonly oldestSeconds: number;
  /** Subjects whose events it failed to take. */
  readonly held: number;
  /** Tenants of which so many subjects failed that it gets none of their events. */
  readonly heldTenants: number;
}

/** Reads the backlog of every consumer with a few index lookups each, however large it is. */
export async function relayBacklog(sql: Sql): Promise<Backlog[]> {
  const readers = await sql<Omit<Backlog, 'oldestSeconds'>[]>`
    select service, consumer, greatest(last_number - reached, 0) as waiting,
      (
        select count(*)::int from plinth.relay_held as held
        where held.service = reader.service and held.consumer = reader.consumer
      ) as held,
      (
        select count(*)::int from plinth.relay_held_tenants as held
        where held.service = reader.service and held.consumer = reader.consumer
      ) as "heldTenants"
    from plinth.relay_positions as reader join plinth.relay_outboxes using (service)
    order by service, consumer`;
  return Promise.all(
    readers.map(async (reader) => ({ ...reader, oldestSeconds: await oldestOf(sql, reader) })),
  );
}

async function oldestOf(
  sql: Sql,
  { service, consumer }: { service: string; consumer: string },
): Promise<number> {
  const outbox = sql(`${service}.outbox`);
  const own = sql`service = ${service} and consumer = ${consumer}`;
  const [row] = await sql<[{ seconds: number }]>`
    select greatest(extract(epoch from now() - min(time)), 0)::float8 as seconds
    from (
      (
        select time from ${outbox} where relay_number > (select reached from plinth.relay_positions where ${own})
        order by relay_number limit 1
      )
      union all
      (select time from ${outbox} where relay_number is null order by seq limit 1)
      union all
      (
        select time from ${outbox}
        where relay_number = (select min(number) from plinth.relay_held where ${own})
      )
      union all
      (
        -- The tenant may have no event of this number: then it is about that of the next one.
        select time from ${outbox}
        where relay_number >= (select min(number) from plinth.relay_held_tenants where ${own})
        order by relay_number limit 1
      )
    ) as oldest`;
  return row.seconds ?? 0;
}
