import { randomInt } from 'node:crypto';
import type { Sealer } from '../../../lib/seal.ts';
import type { SigningCredential } from './credentials.store.ts';

const idLetters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const secretLetters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

const random = (letters: string, length: number): string =>
  Array.from({ length }, () => letters[randomInt(letters.length)]).join('');

/** An id in the form that S3 clients know: 20 capital letters and digits. */
export const newAccessKeyId = (): string => `PLK${random(idLetters, 17)}`;

/** A secret of 238 random bits. Letters and digits survive every configuration file and shell. */
export const newSecret = (): string => random(secretLetters, 40);

const purpose = 'storage.s3_secret';

type Sealed = Pick<SigningCredential, 'tenant_id' | 'access_key_id'>;

/** Seals the secret for one access key: the text in front of it keeps it from being opened for another one. */
export const sealedSecret = (sealer: Sealer, { tenant_id, access_key_id }: Sealed, secret: string): Buffer =>
  sealer.seal(purpose, tenant_id, `${access_key_id}\n${secret}`);

export function openedSecret(sealer: Sealer, credential: Sealed & Pick<SigningCredential, 'secret'>): string {
  const { tenant_id, access_key_id, secret } = credential;
  const [sealedFor, opened] = sealer.open(purpose, tenant_id, secret).toString('utf8').split('\n');
  if (sealedFor !== access_key_id || opened === undefined) throw new Error('sealed for another access key');
  return opened;
}
