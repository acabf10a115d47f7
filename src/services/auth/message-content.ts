import type { Message } from '../../../generated/auth/types.ts';
import type { Sealer } from '../../lib/seal.ts';

/** The part of a message that lets in whoever reads it. */
export type MessageContent = Pick<Message, 'text' | 'html' | 'token' | 'code'>;

const purpose = 'auth/messages/v1';

/** A copy of the database does not tell what messages say. */
export const sealContent = (sealer: Sealer, tenant: string, content: MessageContent): Buffer =>
  sealer.seal(purpose, tenant, JSON.stringify(content));

/** What was sealed; nothing where it was handed over and is kept no more. */
export const openContent = (sealer: Sealer, tenant: string, box: Buffer | null): MessageContent =>
  box === null
    ? { text: '', html: null, token: null, code: null }
    : (JSON.parse(sealer.open(purpose, tenant, box).toString()) as MessageContent);
