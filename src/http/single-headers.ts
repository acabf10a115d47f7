import type { IncomingMessage } from 'node:http';
import { Invalid } from '../lib/errors.ts';

/** Headers that must not be repeated, because a repeated one leaves the caller or the meaning ambiguous. */
const names = [
  'Authorization',
  'X-API-Key',
  'X-Tenant-ID',
  'X-App-ID',
  'X-User-ID',
  'X-Subject-ID',
  'X-Scopes',
  'X-Credential',
  'Idempotency-Key',
  'Content-Type',
];
const known = new Map(names.map((name, index) => [name.toLowerCase(), 1 << index]));
const lengths = new Set(names.map(({ length }) => length));

/**
 * Refuses a request that repeats one of these headers. Node keeps the first value of some headers and joins the values of others,
 * and a proxy in front may have checked another value than the server does.
 */
export function checkSingleHeaders({ rawHeaders }: IncomingMessage): void {
  let seen = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (!lengths.has(name.length)) continue;
    const bit = known.get(name.toLowerCase()) ?? 0;
    if (seen & bit) throw Invalid(`${names[Math.log2(bit)]}: given more than once`);
    seen |= bit;
  }
}
