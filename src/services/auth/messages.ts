import type { Message } from '../../../generated/auth/types.ts';
import { newId } from '../../lib/ids.ts';
import type { KnownApp } from './directory.ts';
import { messageStore } from './messages.store.ts';
import type { Write } from './writes.ts';

/** What a message says. */
export interface Draft extends Pick<Message, 'kind' | 'channel' | 'to' | 'subject' | 'text' | 'html'> {
  /** Kept beside the text where messages stay in the outbox, for development and tests. */
  readonly token: string | null;
  readonly code: string | null;
  readonly userId: string | null;
}

export interface Messages {
  /** Puts a message on its way with the transaction that it belongs to. */
  send(write: Write, app: KnownApp, draft: Draft): Promise<void>;
}

export function createMessages(): Messages {
  return {
    send: ({ sql, tenant }, app, { userId, ...draft }) =>
      messageStore(sql).insert({
        ...draft,
        id: newId('msg'),
        tenant_id: tenant,
        app_id: app.id,
        user_id: userId,
      }),
  };
}
