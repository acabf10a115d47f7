import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** Base62 with digits before capitals before small letters, as secret strings are written. */
const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A big-endian number in exactly `length` digits, with zeros in front. */
export function base62(value: bigint, length: number): string {
  const base = BigInt(digits.length);
  let text = '';
  for (let rest = value; text.length < length; rest /= base) text = digits.charAt(Number(rest % base)) + text;
  return text;
}

/** Bytes as one big-endian number. 32 bytes fill 43 digits. */
export const base62Bytes = (bytes: Uint8Array, length: number): string =>
  base62(BigInt(`0x${Buffer.from(bytes).toString('hex')}`), length);

/** Random digits, each as likely as the others. */
export const randomBase62 = (length: number): string =>
  base62(BigInt(`0x${randomBytes(length + 8).toString('hex')}`) % 62n ** BigInt(length), length);

/** CRC-32 (IEEE) of the text in six digits. Plain arithmetic, because every check of a credential pays for it. */
export function checkDigits(text: string): string {
  let rest = crc32(text);
  let check = '';
  for (let position = 0; position < 6; position++) {
    check = digits.charAt(rest % 62) + check;
    rest = Math.floor(rest / 62);
  }
  return check;
}
