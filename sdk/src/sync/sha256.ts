/**
 * SHA-256 (FIPS 180-4) of short texts. The function of browsers is asynchronous, and a transaction of IndexedDB ends while it is
 * awaited.
 */

/** The first 32 bits of the fractional parts of the roots of the first primes. */
const fractions = (count: number, root: (prime: number) => number): Uint32Array => {
  const found: number[] = [];
  for (let candidate = 2; found.length < count; candidate += 1)
    if (found.every((prime) => candidate % prime !== 0)) found.push(candidate);
  return Uint32Array.from(found, (prime) => (root(prime) % 1) * 2 ** 32);
};
const starting = fractions(8, Math.sqrt);
const constants = fractions(64, Math.cbrt);

const rotated = (word: number, by: number): number => (word >>> by) | (word << (32 - by));
const encoder = new TextEncoder();
const words = new Uint32Array(64);

/** Returns the 32 bytes of the hash of a text in UTF-8. */
export function sha256(text: string): Uint8Array {
  const bytes = encoder.encode(text);
  const padded = new DataView(new ArrayBuffer(Math.ceil((bytes.length + 9) / 64) * 64));
  new Uint8Array(padded.buffer).set(bytes);
  padded.setUint8(bytes.length, 0x80);
  padded.setBigUint64(padded.byteLength - 8, BigInt(bytes.length) * 8n);
  const state = starting.slice();
  for (let block = 0; block < padded.byteLength; block += 64) {
    for (let at = 0; at < 16; at += 1) words[at] = padded.getUint32(block + at * 4);
    compress(state);
  }
  const hash = new DataView(new ArrayBuffer(32));
  state.forEach((word, at) => hash.setUint32(at * 4, word));
  return new Uint8Array(hash.buffer);
}

function compress(state: Uint32Array): void {
  for (let at = 16; at < 64; at += 1) {
    const [early, late] = [words[at - 15]!, words[at - 2]!];
    const first = rotated(early, 7) ^ rotated(early, 18) ^ (early >>> 3);
    const second = rotated(late, 17) ^ rotated(late, 19) ^ (late >>> 10);
    words[at] = words[at - 16]! + first + words[at - 7]! + second;
  }
  let [a, b, c, d, e, f, g, h] = state as unknown as Eight;
  for (let at = 0; at < 64; at += 1) {
    const mixed = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25);
    const one = (h + mixed + ((e & f) ^ (~e & g)) + constants[at]! + words[at]!) | 0;
    const other = (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + other) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, at) => (state[at]! += word));
}

type Eight = [number, number, number, number, number, number, number, number];

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Base64url without padding. */
export function base64url(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 3) {
    const [first = 0, second = 0, third = 0] = bytes.subarray(at, at + 3);
    const word = (first << 16) | (second << 8) | third;
    const digits = [18, 12, 6, 0].map((shift) => alphabet[(word >>> shift) & 63]);
    text += digits.slice(0, Math.min(bytes.length - at, 3) + 1).join('');
  }
  return text;
}
