import type { Database } from '../../index.ts';
import { emit } from '../../outbox.ts';
import type { Consumer } from '../relay.ts';

/** Creates a table in which consumers note what they took and one that counts the events of each subject. */
export async function createTaken({ sql }: Database): Promise<void> {
  await sql`
    create table public.taken (
      nth bigint generated always as identity, consumer text not null, id text not null, subject text not null, count int not null,
      constraint taken_pkey primary key (consumer, id)
    )`;
  await sql`create table public.subjects (subject text primary key, count int not null)`;
}

/** Changes a subject in one transaction, and emits one event with its count. `pause` holds the transaction open after the emit. */
export async function change(db: Database, subject: string, pause?: () => Promise<unknown>): Promise<number> {
  return db.transaction(async (sql) => {
    const [row] = await sql<[{ count: number }]>`
      insert into public.subjects as known (subject, count) values (${subject}, 1)
      on conflict (subject) do update set count = known.count + 1 returning count`;
    await emit(sql, eventOf(subject, row.count));
    await pause?.();
    return row.count;
  });
}

export const eventOf = (subject: string, count: number) => ({
  source: '/authz' as const,
  type: 'authz.thing.changed',
  subject,
  tenant: 'acme',
  app: 'default',
  actor: 'root',
  data: { count },
});

/** A consumer that stores what it takes, each event once. */
export const storing = (db: Database, name: string): Consumer => ({
  name,
  async take(events) {
    await db.sql`
      insert into public.taken (consumer, id, subject, count)
      select ${name}, id, subject, count
      from unnest(
        ${events.map(({ id }) => id)}::text[],
        ${events.map(({ subject }) => subject)}::text[],
        ${events.map(({ data }) => (data as { count: number }).count)}::int[]
      ) with ordinality as event(id, subject, count, nth)
      order by nth
      on conflict do nothing`;
  },
});

/** The counts of each subject's events, in the order in which a consumer took them. */
export async function takenBy({ sql }: Database, consumer: string): Promise<Map<string, number[]>> {
  const rows = await sql<{ subject: string; counts: number[] }[]>`
    select subject, array_agg(count order by nth) as counts from public.taken
    where consumer = ${consumer} group by subject order by subject`;
  return new Map(rows.map(({ subject, counts }) => [subject, counts]));
}

/** The counts of each subject's events, in the order in which they were written. */
export async function written({ sql }: Database): Promise<Map<string, number[]>> {
  const rows = await sql<{ subject: string; count: number }[]>`
    select subject, count from public.subjects order by subject`;
  return new Map(rows.map(({ subject, count }) => [subject, upTo(count)]));
}

export const upTo = (count: number): number[] => Array.from({ length: count }, (_, at) => at + 1);

export async function left({ sql }: Database): Promise<number> {
  const [row] = await sql<[{ count: number }]>`select count(*)::int as count from authz.outbox`;
  return row.count;
}
