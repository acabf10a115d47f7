import { createHash, createHmac } from 'node:crypto';

export const peerSecret = 'a-secret-of-the-benchmark-0123456789';

/** The session token number n of the peer: what both the load and the server can make. */
export const peerToken = (n: number): string =>
  createHash('sha256').update(`session-${n}`).digest('hex').slice(0, 32);

/** The cookie that carries it, signed as Better Auth signs its cookies. */
export function peerCookie(n: number): string {
  const token = peerToken(n);
  const signature = createHmac('sha256', peerSecret).update(token).digest('base64');
  return `better-auth.session_token=${encodeURIComponent(`${token}.${signature}`)}`;
}
