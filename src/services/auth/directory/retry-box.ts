import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

/** The token pair of a refresh, kept to answer a repeat of the same request. */
export interface Pair {
  readonly session_token: string;
  readonly refresh_token: string;
}

/** Seals the pair so that only the spent refresh token opens it: a copy of the database reveals nothing. */
export function sealPair(
  spentToken: string,
  sessionId: string,
  { session_token, refresh_token }: Pair,
): Buffer {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', keyOf(spentToken, sessionId), nonce);
  const sealed = Buffer.concat([cipher.update(`${session_token} ${refresh_token}`), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
}

/** Returns undefined if another token sealed the box: the pair was then issued for a later token. */
export function openPair(spentToken: string, sessionId: string, box: Buffer): Pair | undefined {
  const cipher = createDecipheriv('aes-256-gcm', keyOf(spentToken, sessionId), box.subarray(0, 12));
  cipher.setAuthTag(box.subarray(12, 28));
  try {
    const plain = Buffer.concat([cipher.update(box.subarray(28)), cipher.final()]).toString();
    const [session_token = '', refresh_token = ''] = plain.split(' ');
    return { session_token, refresh_token };
  } catch {
    return undefined;
  }
}

const keyOf = (spentToken: string, sessionId: string) =>
  Buffer.from(hkdfSync('sha256', spentToken, sessionId, 'auth/refresh-retry/v1', 32));
