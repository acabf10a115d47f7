import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** The base62 alphabet for secret strings: digits, then upper-case letters, then lower-case letters. */
const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Writes a number in exactly `length` digits, with leading zeros. */
export function base62(value: bigint, length: number): string {
  const base = BigInt(digits.length);
  let text = '';
  for (let rest = value; text.length < length; rest /= base) text = digits.charAt(Number(rest % base)) + text;
  return text;
}

/** Writes bytes as one big-endian number. 32 bytes fill 43 digits. */
export const base62Bytes = (bytes: Uint8Array, length: number): string =>
  base62(BigInt(`0x${Buffer.from(bytes).toString('hex')}`), length);

/** Returns random digits, all equally likely. */
export const randomBase62 = (length: number): string =>
  base62(BigInt(`0x${randomBytes(length + 8).toString('hex')}`) % 62n ** BigInt(length), length);

/** CRC-32 (IEEE) of the text in six digits. It uses plain arithmetic, because it runs for every check of a credential. */
export function checkDigits(text: string): string {
  let rest = crc32(text);
  let check = '';
  for (let position = 0; position < 6; position++) {
    check = digits.charAt(rest % 62) + check;
    rest = Math.floor(rest / 62);
  }
  return check;
}
