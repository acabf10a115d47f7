import type { Sql } from '../db/index.ts';
import type { Channel } from './message.ts';

/**
 * The table of a service's messages. The service's migration creates it:
 *
 *     create table <schema>.messages (
 *       id text collate "C" not null,
 *       tenant_id text collate "C" not null,
 *       app_id text collate "C" not null,
 *       channel text collate "C" not null,
 *       recipient text collate "C" not null,
 *       kind text collate "C" not null,
 *       user_id text collate "C",
 *       subject text not null,
 *       content_box bytea,
 *       state text collate "C" not null default 'queued',
 *       attempts integer not null default 0,
 *       next_attempt_at timestamptz(3) not null default now(),
 *       claimed_until timestamptz(3),
 *       created_at timestamptz(3) not null default now(),
 *       primary key (tenant_id, id)
 *     );
 *     create index messages_due on <schema>.messages (next_attempt_at) where state = 'queued';
 *     create index messages_age on <schema>.messages (created_at);
 */
export interface MessageTable {
  readonly schema: string;
  /** An expression for the sender that the app of `messages` sets for its mail; null if it sets none. */
  readonly mailFrom: (sql: Sql) => ReturnType<Sql>;
}

/** A message as it is stored: its content is sealed, and deleted once it was handed over. */
export interface NewMessage {
  readonly id: string;
  readonly tenant_id: string;
  readonly app_id: string;
  readonly channel: Channel;
  readonly to: string;
  readonly kind: string;
  readonly user_id: string | null;
  readonly subject: string;
  readonly content_box: Buffer;
  readonly state: 'queued' | 'sent';
}

/** A message that this process has claimed for a while, with the data needed to send it. */
export interface DueMessage {
  readonly id: string;
  readonly tenant_id: string;
  readonly channel: Channel;
  readonly to: string;
  readonly kind: string;
  readonly subject: string;
  readonly content_box: Buffer | null;
  readonly attempts: number;
  readonly mail_from: string | null;
}

/** How long a message is claimed, in seconds: longer than an attempt can take. */
const claimSeconds = 120;

/** Every statement that sends messages and deletes them. */
export const messageStore = (sql: Sql, { schema, mailFrom }: MessageTable) => {
  const table = sql(`${schema}.messages`);
  return {
    async insert({ to, ...message }: NewMessage): Promise<void> {
      await sql`insert into ${table} ${sql({ ...message, recipient: to })}`;
    },

    /** Claims messages of these channels that are due. */
    async claim(channels: readonly Channel[], count: number): Promise<DueMessage[]> {
      return await sql<DueMessage[]>`
        update ${table} as messages
        set claimed_until = now() + ${claimSeconds} * interval '1 second'
        from (
          select messages.tenant_id, messages.id
          from ${table} as messages
          where messages.state = 'queued' and messages.next_attempt_at <= now()
            and messages.channel = any(${sql.array([...channels])}::text[])
            and (messages.claimed_until is null or messages.claimed_until <= now())
          order by messages.next_attempt_at
          limit ${count}
          for update of messages skip locked
        ) as due
        where messages.tenant_id = due.tenant_id and messages.id = due.id
        returning messages.id, messages.tenant_id, messages.channel, messages.recipient as to, messages.kind,
          messages.subject, messages.content_box, messages.attempts, ${mailFrom(sql)} as mail_from`;
    },

    /** Deletes the content of a sent message: anyone who reads it could get in. */
    async sent({ tenant_id, id }: DueMessage): Promise<void> {
      await sql`
        update ${table}
        set state = 'sent', attempts = attempts + 1, claimed_until = null, content_box = null
        where tenant_id = ${tenant_id} and id = ${id}`;
    },

    async tryAgain({ tenant_id, id }: DueMessage, delaySeconds: number): Promise<void> {
      await sql`
        update ${table}
        set attempts = attempts + 1, claimed_until = null,
          next_attempt_at = now() + ${delaySeconds} * interval '1 second'
        where tenant_id = ${tenant_id} and id = ${id}`;
    },

    async failed({ tenant_id, id }: DueMessage): Promise<void> {
      await sql`
        update ${table}
        set state = 'failed', attempts = attempts + 1, claimed_until = null, content_box = null
        where tenant_id = ${tenant_id} and id = ${id}`;
    },

    /** Removes up to `batch` messages older than 7 days: the tokens and codes in them have expired, sent or not. */
    async prune(batch: number): Promise<number> {
      const { count } = await sql`
        delete from ${table}
        where (tenant_id, id) in (
          select tenant_id, id from ${table}
          where created_at < now() - interval '7 days'
          limit ${batch}
        )`;
      return count;
    },
  };
};
