import { type Version, wholeSecond } from './conditions.ts';
import { matchesStrongly, parseEntityTags } from './entity-tag.ts';
import { parseHttpDate } from './http-headers.ts';

/** Bytes from `start` up to and including `end`. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export type AskedRange = ByteRange | 'whole' | 'unsatisfiable';

/** The headers of a request for a range, as received. */
export interface RangeHeaders {
  readonly range?: string | undefined;
  readonly ifRange?: string | undefined;
}

/**
 * Returns what a request asks of content of `size` bytes. Several ranges, other units and what cannot be read are ignored, as RFC 9110
 * allows, and so is a range whose `If-Range` names another version.
 */
export function rangeOf({ range, ifRange }: RangeHeaders, size: number, current: Version): AskedRange {
  if (range === undefined || (ifRange !== undefined && !isCurrent(ifRange, current))) return 'whole';
  return parseRange(range, size);
}

export function parseRange(header: string, size: number): AskedRange {
  const [, first, last] = /^bytes=[ \t]*([0-9]*)-([0-9]*)[ \t]*$/i.exec(header) ?? [];
  if (first === undefined || last === undefined || (first === '' && last === '')) return 'whole';
  if (first === '') return suffix(Number(last), size);
  const start = Number(first);
  if (last !== '' && isLess(last, first)) return 'whole';
  if (start >= size) return 'unsatisfiable';
  return { start, end: last === '' ? size - 1 : Math.min(Number(last), size - 1) };
}

/** The last `length` bytes. Empty content has no bytes that a range could name, so all of it is returned. */
function suffix(length: number, size: number): AskedRange {
  if (length === 0) return 'unsatisfiable';
  return size === 0 ? 'whole' : { start: Math.max(0, size - length), end: size - 1 };
}

/** Compares numbers of any length, which `Number` would round. */
function isLess(a: string, b: string): boolean {
  const [left, right] = [a.replace(/^0+/, ''), b.replace(/^0+/, '')];
  return left.length === right.length ? left < right : left.length < right.length;
}

/** The value of `If-Range` is an entity tag, or the time of the last change, which has to be the very same. */
function isCurrent(ifRange: string, { etag, last_modified }: Version): boolean {
  const time = parseHttpDate(ifRange);
  if (time !== undefined) return wholeSecond(last_modified) === time.getTime();
  try {
    const tags = parseEntityTags(ifRange);
    return tags !== '*' && tags.length === 1 && matchesStrongly(tags, etag);
  } catch {
    return false;
  }
}
