import { hash, randomBytes } from 'node:crypto';
import { base62Bytes, checkDigits } from '../../lib/base62.ts';

/**
 * What a secret string is for: a session's token, its refresh token, a sign-in that waits for its second factor, a client's
 * secret, a known device, and the one-time tokens of messages (verify an email, reset a password, accept an invitation).
 */
export type TokenHead = 'pst' | 'prt' | 'chall' | 'sec' | 'dvt' | 'vrf' | 'rst' | 'inv';

export interface IssuedToken {
  /** `<head>_<tag><body><check>`: shown once, stored nowhere. */
  readonly token: string;
  readonly hash: Buffer;
}

/** A presented string that can be a token: its tenant's tag, and the hash by which it is found. */
export interface PresentedToken {
  readonly tag: string;
  readonly hash: Buffer;
}

const randomForm = /^[0-9A-Za-z]{55}$/;

/** Makes a token. `body` is 32 random bytes; only the published vector gives its own. */
export function issueToken(head: TokenHead, tag: string, body: Uint8Array = randomBytes(32)): IssuedToken {
  const unchecked = `${head}_${tag}${base62Bytes(body, 43)}`;
  const token = unchecked + checkDigits(unchecked);
  return { token, hash: sha256(token) };
}

/** Undefined where the text cannot be such a token: garbage and typos never reach the database. */
export function readToken(head: TokenHead, text: string): PresentedToken | undefined {
  const tag = readTag(head, text);
  return tag === undefined ? undefined : { tag, hash: sha256(text) };
}

/** The tenant's tag in a token; undefined where the text cannot be such a token. */
export function readTag(head: TokenHead, text: string): string | undefined {
  const random = text.slice(head.length + 1);
  if (!text.startsWith(`${head}_`) || !randomForm.test(random)) return undefined;
  return text.endsWith(checkDigits(text.slice(0, -6))) ? random.slice(0, 6) : undefined;
}

/** The same hash in hex, which is made several times as fast: for what is looked up in memory with each request. */
export const sha256Hex = (text: string): string => hash('sha256', text, 'hex');

/** 256 random bits need no slow hash. */
export const sha256 = (text: string): Buffer => hash('sha256', text, 'buffer');
