import { hash, randomBytes } from 'node:crypto';
import { base62Bytes, checkDigits, randomBase62 } from '../../../lib/base62.ts';

/** The parts of a raw key: `<prefix>_<environment>_<tag><body><check>`. */
export interface RawKey {
  readonly prefix: string;
  readonly environment: string;
  /** Six base62 characters that identify the tenant, so that a lookup can be routed without asking every tenant. */
  readonly tag: string;
}

export interface NewRawKey {
  /** The string that the holder sends. It exists in one response and nowhere else. */
  readonly rawKey: string;
  /** SHA-256 of `rawKey` in lower-case hexadecimal. Only this is stored. */
  readonly hash: string;
  /** The last four characters, by which people tell their keys apart. */
  readonly hint: string;
}

const tagLength = 6;
const bodyLength = 43;
const checkLength = 6;
const randomLength = tagLength + bodyLength + checkLength;
/** The longest prefix (32) and environment (32), two underscores and the random part. */
const longest = 32 + 1 + 32 + 1 + randomLength;
const shortest = 1 + 1 + 1 + 1 + randomLength;

const prefixForm = /^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,30}[A-Za-z0-9])?$/;
const environmentForm = /^[a-z][a-z0-9-]{0,31}$/;
const randomForm = /^[0-9A-Za-z]{55}$/;

/**
 * Parses a raw key and verifies its check digits. Returns undefined when the string cannot be a raw key. Parsing starts at the
 * right, because only the prefix may contain underscores. Garbage, typos and truncated keys are rejected here and never reach
 * the database.
 */
export function parseRawKey(text: string): RawKey | undefined {
  if (text.length < shortest || text.length > longest) return undefined;
  const beforeRandom = text.length - randomLength - 1;
  if (text[beforeRandom] !== '_') return undefined;
  const beforeEnvironment = text.lastIndexOf('_', beforeRandom - 1);
  if (beforeEnvironment < 1) return undefined;
  const random = text.slice(beforeRandom + 1);
  const environment = text.slice(beforeEnvironment + 1, beforeRandom);
  const prefix = text.slice(0, beforeEnvironment);
  if (!randomForm.test(random) || !environmentForm.test(environment) || !prefixForm.test(prefix))
    return undefined;
  if (!text.endsWith(checkDigits(text.slice(0, -checkLength)))) return undefined;
  return { prefix, environment, tag: random.slice(0, tagLength) };
}

/** Creates a raw key. `body` is 32 random bytes; only the published test vector passes its own. */
export function makeRawKey(parts: RawKey, body: Uint8Array = randomBytes(32)): NewRawKey {
  const unchecked = `${parts.prefix}_${parts.environment}_${parts.tag}${base62Bytes(body, bodyLength)}`;
  const rawKey = unchecked + checkDigits(unchecked);
  return { rawKey, hash: hashRawKey(rawKey), hint: rawKey.slice(-4) };
}

/** Returns a random tag for a new tenant. The table ensures that it is unique. */
export const makeTag = (): string => randomBase62(tagLength);

/** Returns the SHA-256 of the whole string: 256 random bits need no slow hash. */
export const hashRawKey = (rawKey: string): string => hash('sha256', rawKey, 'hex');
