import { createHash, createHmac } from 'node:crypto';

export const peerSecret = 'a-secret-of-the-benchmark-0123456789';

/** Returns the peer's session token number n, which both the load and the server can compute. */
export const peerToken = (n: number): string =>
  createHash('sha256').update(`session-${n}`).digest('hex').slice(0, 32);

/** Returns the cookie with the token, signed as Better Auth signs its cookies. */
export function peerCookie(n: number): string {
  const token = peerToken(n);
  const signature = createHmac('sha256', peerSecret).update(token).digest('base64');
  return `better-auth.session_token=${encodeURIComponent(`${token}.${signature}`)}`;
}
