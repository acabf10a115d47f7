import type { Sealer } from '../../../lib/seal.ts';

const purpose = 'auth/outbox/v1';
const named = 'page';

/** The key that opens the page of the mailbox: it is known only from the terminal in which the server was started. */
export const mailboxKey = (sealer: Pick<Sealer, 'mac'>): string =>
  sealer.mac(purpose, '', named).toString('base64url');

/** Whether the given key is the key of the mailbox. */
export const isMailboxKey = (sealer: Pick<Sealer, 'verifies'>, given: string): boolean =>
  sealer.verifies(purpose, '', named, Buffer.from(given, 'base64url'));
