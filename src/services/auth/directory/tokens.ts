import { hash, randomBytes } from 'node:crypto';
import { base62Bytes, checkDigits } from '../../../lib/base62.ts';

/**
 * The purpose of a secret string: a session token, a refresh token, a sign-in that waits for its second factor, a client secret,
 * a known device, the one-time tokens in messages (verify an email, reset a password, accept an invitation), and the registration
 * of a client by itself.
 */
export type TokenHead = 'pst' | 'prt' | 'chall' | 'sec' | 'dvt' | 'vrf' | 'rst' | 'inv' | 'reg';

export interface IssuedToken {
  /** `<head>_<tag><body><check>`: shown once, never stored. */
  readonly token: string;
  readonly hash: Buffer;
}

/** A presented string that is well-formed: its tenant's tag, and the hash by which it is found. */
export interface PresentedToken {
  readonly tag: string;
  readonly hash: Buffer;
}

const randomForm = /^[0-9A-Za-z]{55}$/;

/** Issues a token. `body` is 32 random bytes; only the published test vector passes its own. */
export function issueToken(head: TokenHead, tag: string, body: Uint8Array = randomBytes(32)): IssuedToken {
  const unchecked = `${head}_${tag}${base62Bytes(body, 43)}`;
  const token = unchecked + checkDigits(unchecked);
  return { token, hash: sha256(token) };
}

/** Returns undefined if the text cannot be such a token: garbage and typos never reach the database. */
export function readToken(head: TokenHead, text: string): PresentedToken | undefined {
  const tag = readTag(head, text);
  return tag === undefined ? undefined : { tag, hash: sha256(text) };
}

/** Returns the tenant's tag in a token; undefined if the text cannot be such a token. */
export function readTag(head: TokenHead, text: string): string | undefined {
  const random = text.slice(head.length + 1);
  if (!text.startsWith(`${head}_`) || !randomForm.test(random)) return undefined;
  return text.endsWith(checkDigits(text.slice(0, -6))) ? random.slice(0, 6) : undefined;
}

/** Returns the same hash in hexadecimal, which is several times as fast: for in-memory lookups on each request. */
export const sha256Hex = (text: string): string => hash('sha256', text, 'hex');

/** A token of 256 random bits needs no slow hash. */
export const sha256 = (text: string): Buffer => hash('sha256', text, 'buffer');
