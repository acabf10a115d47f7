import { hash, randomBytes } from 'node:crypto';
import { base62Bytes, checkDigits, randomBase62 } from '../../../lib/base62.ts';

/** A raw key taken apart: `<prefix>_<environment>_<tag><body><check>`. */
export interface RawKey {
  readonly prefix: string;
  readonly environment: string;
  /** Six base62 characters that name the tenant, so that a lookup is routed without asking every tenant. */
  readonly tag: string;
}

export interface NewRawKey {
  /** The string the holder sends. It exists in one answer and nowhere else. */
  readonly rawKey: string;
  /** SHA-256 of `rawKey`, lower-case hex: all that is stored. */
  readonly hash: string;
  /** The last four characters, by which people tell their keys apart. */
  readonly hint: string;
}

const tagLength = 6;
const bodyLength = 43;
const checkLength = 6;
const randomLength = tagLength + bodyLength + checkLength;
/** Longest prefix (32) and environment (32), two underscores and the random part. */
const longest = 32 + 1 + 32 + 1 + randomLength;
const shortest = 1 + 1 + 1 + 1 + randomLength;

const prefixForm = /^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,30}[A-Za-z0-9])?$/;
const environmentForm = /^[a-z][a-z0-9-]{0,31}$/;
const randomForm = /^[0-9A-Za-z]{55}$/;

/**
 * Takes a raw key apart and verifies its check digits; undefined when the string cannot be one. It is read from the
 * right, because a prefix may contain underscores and the other two parts cannot. Garbage, typos and truncated keys end
 * here and never reach the database.
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

/** Makes a raw key. `body` is 32 random bytes; only the published vector gives its own. */
export function makeRawKey(parts: RawKey, body: Uint8Array = randomBytes(32)): NewRawKey {
  const unchecked = `${parts.prefix}_${parts.environment}_${parts.tag}${base62Bytes(body, bodyLength)}`;
  const rawKey = unchecked + checkDigits(unchecked);
  return { rawKey, hash: hashRawKey(rawKey), hint: rawKey.slice(-4) };
}

/** A random tag for a new tenant. Uniqueness is the table's business. */
export const makeTag = (): string => randomBase62(tagLength);

/** SHA-256 of the whole string: 256 random bits need no slow hash. */
export const hashRawKey = (rawKey: string): string => hash('sha256', rawKey, 'hex');
