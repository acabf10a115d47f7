import type { Message } from '../../../generated/auth/types.ts';
import type { Sql } from '../../db/index.ts';

export interface NewMessage extends Omit<Message, 'state' | 'created_at'> {
  readonly tenant_id: string;
  /** Whose message it is, so that it goes when they go. */
  readonly user_id: string | null;
}

/** Every statement about messages. */
export const messageStore = (sql: Sql) => ({
  async insert({ to, ...message }: NewMessage): Promise<void> {
    await sql`insert into auth.messages ${sql({ ...message, recipient: to })}`;
  },
});
