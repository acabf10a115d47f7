import type { Message } from '../../../generated/auth/types.ts';
import type { Sql } from '../../db/index.ts';
import type { Place, Window } from '../../http/lists.ts';
import { NotFound } from '../../lib/errors.ts';
import type { MessageContent } from './message-content.ts';

/** A message as it is stored: what it says is sealed, and gone once it was handed over. */
export interface StoredMessage extends Omit<Message, keyof MessageContent> {
  readonly content_box: Buffer | null;
}

export interface NewMessage extends Omit<StoredMessage, 'created_at'> {
  readonly tenant_id: string;
  /** Whose message it is, so that it goes when they go. */
  readonly user_id: string | null;
}

/** A message that is this process's for a while, with what sending it needs. */
export interface DueMessage extends Pick<
  StoredMessage,
  'id' | 'channel' | 'to' | 'kind' | 'subject' | 'content_box'
> {
  readonly tenant_id: string;
  readonly attempts: number;
  /** From whom the app's mail comes, where it says so. */
  readonly mail_from: string | null;
}

/** Which messages are meant; all without a filter. */
export interface MessageFilter {
  readonly to: string | undefined;
  readonly kind: Message['kind'] | undefined;
}

/** Longer than a try can take. */
const claimSeconds = 120;

/** Every statement about messages. */
export const messageStore = (sql: Sql) => ({
  async insert({ to, ...message }: NewMessage): Promise<void> {
    await sql`insert into auth.messages ${sql({ ...message, recipient: to })}`;
  },

  /** Takes messages of these channels that are due. */
  async claim(channels: readonly Message['channel'][], count: number): Promise<DueMessage[]> {
    return await sql<DueMessage[]>`
      update auth.messages
      set claimed_until = now() + ${claimSeconds} * interval '1 second'
      from (
        select messages.tenant_id, messages.id, apps.settings ->> 'mail_from' as mail_from
        from auth.messages
        join auth.apps on apps.tenant_id = messages.tenant_id and apps.id = messages.app_id
        where messages.state = 'queued' and messages.next_attempt_at <= now()
          and messages.channel = any(${sql.array([...channels])}::text[])
          and (messages.claimed_until is null or messages.claimed_until <= now())
        order by messages.next_attempt_at
        limit ${count}
        for update of messages skip locked
      ) as due
      where messages.tenant_id = due.tenant_id and messages.id = due.id
      returning messages.id, messages.tenant_id, messages.channel, messages.recipient as to, messages.kind,
        messages.subject, messages.content_box, messages.attempts, due.mail_from`;
  },

  /** What was handed over is kept nowhere: it lets in whoever reads it. */
  async sent({ tenant_id, id }: DueMessage): Promise<void> {
    await sql`
      update auth.messages
      set state = 'sent', attempts = attempts + 1, claimed_until = null, content_box = null
      where tenant_id = ${tenant_id} and id = ${id}`;
  },

  async tryAgain({ tenant_id, id }: DueMessage, delaySeconds: number): Promise<void> {
    await sql`
      update auth.messages
      set attempts = attempts + 1, claimed_until = null,
        next_attempt_at = now() + ${delaySeconds} * interval '1 second'
      where tenant_id = ${tenant_id} and id = ${id}`;
  },

  async failed({ tenant_id, id }: DueMessage): Promise<void> {
    await sql`
      update auth.messages
      set state = 'failed', attempts = attempts + 1, claimed_until = null, content_box = null
      where tenant_id = ${tenant_id} and id = ${id}`;
  },

  async get(tenant: string, app: string, id: string): Promise<StoredMessage> {
    const [message] = await sql<StoredMessage[]>`
      select ${columns(sql)}
      from auth.messages
      where tenant_id = ${tenant} and app_id = ${app} and id = ${id}`;
    if (!message) throw NotFound('message');
    return message;
  },

  /** Newest first; one more than `limit` when more follow. */
  async list(
    tenant: string,
    app: string,
    { to, kind }: MessageFilter,
    { limit, after }: Window<Place>,
  ): Promise<StoredMessage[]> {
    return await sql<StoredMessage[]>`
      select ${columns(sql)}
      from auth.messages
      where tenant_id = ${tenant} and app_id = ${app}
        ${to === undefined ? sql`` : sql`and recipient = ${to}`}
        ${kind === undefined ? sql`` : sql`and kind = ${kind}`}
        ${after === null ? sql`` : sql`and (created_at, id) < (${after.created_at}, ${after.id})`}
      order by created_at desc, id desc
      limit ${limit + 1}`;
  },

  async clear(tenant: string, app: string): Promise<void> {
    await sql`delete from auth.messages where tenant_id = ${tenant} and app_id = ${app}`;
  },

  /** Removes up to `batch` messages that are older than 7 days: what they carry has expired, sent or not. */
  async prune(batch: number): Promise<number> {
    const { count } = await sql`
      delete from auth.messages
      where (tenant_id, id) in (
        select tenant_id, id from auth.messages
        where created_at < now() - interval '7 days'
        limit ${batch}
      )`;
    return count;
  },
});

const columns = (sql: Sql) => sql`
  id, app_id, channel, recipient as to, kind, subject, content_box, state, created_at`;
