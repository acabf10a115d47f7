import { createHash, randomInt } from 'node:crypto';

/** The alphabet has no letters and digits that are easily confused. */
const alphabet = 'abcdefghjkmnpqrstuvwxyz23456789';
const codesInSet = 10;

/** Ten codes like `7kq2-m9xd-r4tw`: 59 bits each. */
export const newRecoveryCodes = (): string[] =>
  Array.from({ length: codesInSet }, () => [part(), part(), part()].join('-'));

const part = () => Array.from({ length: 4 }, () => alphabet.charAt(randomInt(alphabet.length))).join('');

/** Hashes a code for storage. The id of the user is the salt; hyphens, blanks and case do not count. */
export const recoveryHash = (userId: string, code: string): Buffer =>
  createHash('sha256')
    .update(`${userId}\0${code.toLowerCase().replaceAll(/[\s-]/g, '')}`)
    .digest();
