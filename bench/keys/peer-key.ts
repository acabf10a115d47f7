import { createHash } from 'node:crypto';

/** Returns the peer's key number n: 64 characters that both the load and the server can compute. */
export const peerKey = (name: string, n: number): string =>
  createHash('sha256').update(`${name}-${n}`).digest('hex');
