import type { Request } from '../load.ts';
import { call } from '../client.ts';
import { peerCookie } from './peer-session.ts';
import type { SeededSession } from './data.ts';

const base = '/auth/v1/auth';
export const password = 'correct horse battery staple';

/** The texts that the answers must contain. */
export const isUser = '"id":"user_';
export const isTokenSet = '"session_token":"pst_';

export const me = ({ token }: Pick<SeededSession, 'token'>): Request => ({
  method: 'GET',
  path: `${base}/me`,
  headers: { Authorization: `Bearer ${token}` },
});

export const refresh = ({ refreshToken }: SeededSession): Request => ({
  path: `${base}/refresh`,
  body: { refresh_token: refreshToken },
});

/** Returns the peer's session check. */
export const peerSession = (n: number): Request => ({
  method: 'GET',
  path: '/get-session',
  headers: { Cookie: peerCookie(n) },
});

/** Creates accounts with a password over HTTP. Returns their sign-ins. */
export async function signins(port: number, count: number): Promise<Request[]> {
  const bodies = Array.from({ length: count }, (_, n) => ({
    email: `user-${n}@example.com`,
    password,
    app_id: 'default',
  }));
  for (const body of bodies) await call(port, 'POST', `${base}/signup`, body);
  return bodies.map((body) => ({ path: `${base}/signin`, body }));
}
