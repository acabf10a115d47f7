import { Invalid } from '../../../lib/errors.ts';
import { SecretUnreadable } from '../errors.ts';
import { type SealedFor, type Sealing, Unreadable } from '../sealing.ts';

const [fewestBytes, mostBytes] = [24, 64];
const prefix = 'whsec_';

/**
 * Checks a secret that a client chose; the contract checks its characters.
 * @throws Invalid unless it is the base64 of a key of 24 to 64 bytes
 */
export function checkSecret(secret: string | undefined): void {
  if (secret === undefined) return;
  const text = secret.slice(prefix.length);
  const key = Buffer.from(text, 'base64');
  const isBase64 = key.toString('base64').replace(/=+$/, '') === text.replace(/=+$/, '');
  if (!isBase64 || text.length % 4 !== 0 || key.length < fewestBytes || key.length > mostBytes)
    throw Invalid(`secret: must be ${prefix} and the base64 of ${fewestBytes} to ${mostBytes} bytes`);
}

/** @throws SecretUnreadable, which says what to do */
export function openedSecret(sealing: Sealing, owner: SealedFor, box: Uint8Array): string {
  try {
    return sealing.openSecret(owner, box);
  } catch (error) {
    if (error instanceof Unreadable) throw SecretUnreadable(error);
    throw error;
  }
}
