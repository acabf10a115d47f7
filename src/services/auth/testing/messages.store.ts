import type { Message } from '../../../../generated/auth/types.ts';
import type { Sql } from '../../../db/index.ts';
import { testSealer } from '../../../testing/server.ts';
import { openContent, type MessageContent } from '../../../notify/message-content.ts';

export interface SentMessage extends Pick<Message, 'id' | 'kind' | 'subject' | 'state'>, MessageContent {
  readonly attempts: number;
  /** Whether its content is still stored. */
  readonly kept: boolean;
}

/** The messages to an address or number, oldest first, even without a mailbox. */
export async function messagesTo(sql: Sql, to: string | null): Promise<SentMessage[]> {
  const rows = await sql<
    (Omit<SentMessage, keyof MessageContent | 'kept'> & { tenant_id: string; content_box: Buffer | null })[]
  >`
    select tenant_id, id, kind, subject, state, attempts, content_box
    from auth.messages
    where recipient = ${to}
    order by created_at, id`;
  return rows.map(({ tenant_id, content_box, ...message }) => ({
    ...message,
    ...openContent(testSealer, 'auth', tenant_id, content_box),
    kept: content_box !== null,
  }));
}
