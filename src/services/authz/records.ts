import { isDeepStrictEqual } from 'node:util';
import { Invalid } from '../../lib/errors.ts';
import type { Write } from './writes.ts';

/** The members that the server sets in every record of a write. */
export const stamp = ({ tenant, app, revision }: Write) => ({ tenant_id: tenant, app_id: app, revision });

/** Returns the record with a request's changes applied, or undefined when they change nothing. */
export function changed<Record extends object>(record: Record, changes: Partial<Record>): Record | undefined {
  const next = { ...record, ...changes };
  return isDeepStrictEqual(next, record) ? undefined : next;
}

/** Rejects a different value for a member that is fixed at creation. */
export function checkFixed(field: string, value: string | undefined, stored: string): void {
  if (value !== undefined && value !== stored) throw Invalid(`${field}: cannot be changed`);
}

/** Rejects a filter that has no meaning without another one. */
export function checkNeeds<Filter extends object>(
  filter: Filter,
  field: keyof Filter & string,
  needed: keyof Filter & string,
): void {
  if (filter[field] !== undefined && filter[needed] === undefined)
    throw Invalid(`${needed}: required with ${field}`);
}

/** Checks that a fact expires in the future by the database's clock (`now`, in milliseconds). Times arrive in their normal form. */
export function checkFuture(time: string | null, now: number, field = 'expires_at'): void {
  if (time !== null && Date.parse(time) <= now) throw Invalid(`${field}: must be in the future`);
}

/** Checks the bytes of an id, since an index row holds two entity ids. The contract limits their characters. */
export function checkEntityId(id: string | null | undefined, field: string): void {
  // One UTF-16 unit takes at most 3 bytes in UTF-8.
  if (id && id.length > 341 && Buffer.byteLength(id) > 1024)
    throw Invalid(`${field}: longer than 1024 bytes`);
}
