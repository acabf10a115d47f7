import { createHash } from 'node:crypto';

/** The key number n of the peer: 64 characters that both the load and the server can make. */
export const peerKey = (name: string, n: number): string =>
  createHash('sha256').update(`${name}-${n}`).digest('hex');
