import { randomBytes } from 'node:crypto';
import type { Request } from '../load.ts';
import { headers } from '../place.ts';
import { sized } from '../scale.ts';
import { skewed } from './data.ts';
import { peerKey } from './peer-key.ts';

/** The text that every answer must contain. */
export const valid = '"valid":true';

export const validation = (raw_key: string, record: 'durable' | 'none'): Request => ({
  path: '/keys/v1/keys/validate',
  headers,
  body: { raw_key, record },
});

/** Enough calls that the rarely used keys are not all cached after the first round. */
const turns = () => sized(100_000, 1_000);

export const validations = (keys: readonly string[], record: 'durable' | 'none'): Request[] =>
  skewed(keys, turns()).map((key) => validation(key, record));

/** Returns the same load for the peer. */
export const peerRequests = (name: string, count: number): Request[] =>
  skewed(
    Array.from({ length: count }, (_, n) => n),
    turns(),
  ).map((n) => ({ path: '/verify', body: { key: peerKey(name, n) } }));

/** Returns strings with the length of a raw key, none of which is valid. */
export const garbageRequests = (count: number): Request[] =>
  Array.from({ length: count }, () => validation(`sk_live_${randomBytes(41).toString('base64url')}`, 'none'));
