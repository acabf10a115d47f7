import type { Message } from '../../../../generated/auth/types.ts';
import type { Sql } from '../../../db/index.ts';
import { followsPrevious, onePage, type Window } from '../../../db/lists.ts';
import { NotFound } from '../../../lib/errors.ts';
import type { MessageContent } from '../../../notify/message-content.ts';

/** A message as it is stored: its content is sealed, and deleted once it was handed over. */
export interface StoredMessage extends Omit<Message, keyof MessageContent> {
  readonly content_box: Buffer | null;
}

/** Selects messages; without a filter, all. */
export interface MessageFilter {
  readonly to: string | undefined;
  readonly kind: Message['kind'] | undefined;
}

/** Every statement that reads messages, and the one that clears the mailbox. */
export const mailboxStore = (sql: Sql) => ({
  /** Returns the owners of those messages that have one. */
  async ownersOf(tenant: string, ids: readonly string[]): Promise<{ id: string; user_id: string }[]> {
    return await sql<{ id: string; user_id: string }[]>`
      select id, user_id
      from auth.messages
      where tenant_id = ${tenant} and id = any(${[...ids]}::text[]) and user_id is not null`;
  },

  async get(tenant: string, app: string, id: string): Promise<StoredMessage> {
    const [message] = await sql<StoredMessage[]>`
      select ${columns(sql)}
      from auth.messages
      where tenant_id = ${tenant} and app_id = ${app} and id = ${id}`;
    if (!message) throw NotFound('message');
    return message;
  },

  async list(
    tenant: string,
    app: string,
    { to, kind }: MessageFilter,
    window: Window,
  ): Promise<StoredMessage[]> {
    return await sql<StoredMessage[]>`
      select ${columns(sql)}
      from auth.messages
      where tenant_id = ${tenant} and app_id = ${app}
        ${to === undefined ? sql`` : sql`and recipient = ${to}`}
        ${kind === undefined ? sql`` : sql`and kind = ${kind}`}
        ${followsPrevious(sql, window)}
      ${onePage(sql, window)}`;
  },

  /** Returns the newest messages of all tenants, for the page of an operator on their own machine. */
  async newest(count: number): Promise<(StoredMessage & { readonly tenant_id: string })[]> {
    return await sql<(StoredMessage & { tenant_id: string })[]>`
      select tenant_id, ${columns(sql)}
      from auth.messages
      order by created_at desc, id desc
      limit ${count}`;
  },

  async clear(tenant: string, app: string): Promise<void> {
    await sql`delete from auth.messages where tenant_id = ${tenant} and app_id = ${app}`;
  },
});

const columns = (sql: Sql) => sql`
  id, app_id, channel, recipient as to, kind, subject, content_box, state, created_at`;
