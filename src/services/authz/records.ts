import { isDeepStrictEqual } from 'node:util';
import { Invalid } from '../../lib/errors.ts';
import type { Write } from './writes.ts';

/** The members that the server sets in every record of a write. */
export const stamp = ({ tenant, app, revision }: Write) => ({ tenant_id: tenant, app_id: app, revision });

/** The record with what a request changes; undefined when that leaves it as it was. */
export function changed<Record extends object>(record: Record, changes: Partial<Record>): Record | undefined {
  const next = { ...record, ...changes };
  return isDeepStrictEqual(next, record) ? undefined : next;
}

/** Refuses another value for a member that is fixed at creation. */
export function checkFixed(field: string, value: string | undefined, stored: string): void {
  if (value !== undefined && value !== stored) throw Invalid(`${field}: cannot be changed`);
}

/** Refuses a filter that means nothing without another one. */
export function checkNeeds<Filter extends object>(
  filter: Filter,
  field: keyof Filter & string,
  needed: keyof Filter & string,
): void {
  if (filter[field] !== undefined && filter[needed] === undefined)
    throw Invalid(`${needed}: required with ${field}`);
}

/** The moment a fact ends as it is stored. It lies in the future by the database's clock (`now`, milliseconds). */
export function futureTime(expires_at: string | null, now: number, field = 'expires_at'): string | null {
  const time = storedTime(expires_at, field);
  checkFuture(time, now, field);
  return time;
}

/** A moment in the form that it is stored and answered in. */
export function storedTime(given: string | null, field: string): string | null {
  if (given === null) return null;
  const time = Date.parse(given);
  if (Number.isNaN(time)) throw Invalid(`${field}: must be an RFC 3339 time`);
  return new Date(time).toISOString();
}

export function checkFuture(time: string | null, now: number, field: string): void {
  if (time !== null && Date.parse(time) <= now) throw Invalid(`${field}: must be in the future`);
}

/** An index row holds two entity ids, which bounds their bytes; the contract bounds their characters. */
export function checkEntityId(id: string | null | undefined, field: string): void {
  // A character of UTF-16 takes at most 3 bytes of UTF-8.
  if (id && id.length > 341 && Buffer.byteLength(id) > 1024)
    throw Invalid(`${field}: longer than 1024 bytes`);
}
