import { PreconditionFailed } from '../../../lib/errors.ts';
import { matchesStrongly, matchesWeakly, parseEntityTags } from './entity-tag.ts';
import { parseHttpDate } from './http-headers.ts';

/** The conditional headers of a request, as received. */
export interface ConditionHeaders {
  readonly ifMatch?: string | undefined;
  readonly ifNoneMatch?: string | undefined;
  readonly ifModifiedSince?: string | undefined;
  readonly ifUnmodifiedSince?: string | undefined;
}

/** Which version of the content there is now. */
export interface Version {
  readonly etag: string;
  /** RFC 3339, as the database module reads it. */
  readonly last_modified: string;
}

export type Verdict = 'proceed' | 'notModified' | 'failed';

/**
 * Judges the conditions of a GET or HEAD in the order of RFC 9110, section 13.2.2. A time that is no HTTP date is ignored, as the
 * RFC demands; a malformed list of tags is refused, because a client that sends one relies on it.
 */
export function judgeRead(headers: ConditionHeaders, current: Version): Verdict {
  if (!isStillWanted(headers, current)) return 'failed';
  const { ifNoneMatch, ifModifiedSince } = headers;
  if (ifNoneMatch !== undefined)
    return matchesWeakly(parseEntityTags(ifNoneMatch), current.etag) ? 'notModified' : 'proceed';
  const since = parsedTime(ifModifiedSince);
  return since !== undefined && wholeSecond(current.last_modified) <= since ? 'notModified' : 'proceed';
}

/** Judges the conditions of a request that changes the object under a key; `current` is undefined when there is none. */
export function judgeWrite(headers: ConditionHeaders, current: Version | undefined): Verdict {
  const { ifMatch, ifNoneMatch } = headers;
  const tags = ifNoneMatch === undefined ? undefined : parseEntityTags(ifNoneMatch);
  if (current === undefined) {
    if (ifMatch === undefined) return 'proceed';
    parseEntityTags(ifMatch);
    return 'failed';
  }
  if (!isStillWanted(headers, current)) return 'failed';
  return tags !== undefined && matchesWeakly(tags, current.etag) ? 'failed' : 'proceed';
}

/** @throws PreconditionFailed when the object under the key is not as the request demands */
export function checkWrite(headers: ConditionHeaders, current: Version | undefined): void {
  if (judgeWrite(headers, current) === 'failed') throw PreconditionFailed('precondition failed');
}

/** The first two steps of the order, which reads and writes share. */
function isStillWanted({ ifMatch, ifUnmodifiedSince }: ConditionHeaders, current: Version): boolean {
  if (ifMatch !== undefined) return matchesStrongly(parseEntityTags(ifMatch), current.etag);
  const since = parsedTime(ifUnmodifiedSince);
  return since === undefined || wholeSecond(current.last_modified) <= since;
}

const parsedTime = (header: string | undefined) =>
  header === undefined ? undefined : parseHttpDate(header)?.getTime();

/** HTTP dates have no fractions of a second, so an object counts as changed at the beginning of its second. */
export const wholeSecond = (time: string) => Math.floor(Date.parse(time) / 1000) * 1000;

/**
 * The conditions of a write in the form that a statement judges: the entity tags that must or must not match, where `*` stands for any.
 */
export interface WriteCondition {
  readonly match: readonly string[] | null;
  readonly none_match: readonly string[] | null;
  readonly unmodified_since: string | null;
}

/** Returns undefined for a write without conditions. */
export function writeCondition(headers: ConditionHeaders): WriteCondition | undefined {
  const { ifMatch, ifNoneMatch, ifUnmodifiedSince } = headers;
  const since = ifMatch === undefined ? parsedTime(ifUnmodifiedSince) : undefined;
  if (ifMatch === undefined && ifNoneMatch === undefined && since === undefined) return undefined;
  return {
    match: ifMatch === undefined ? null : listed(ifMatch, false),
    none_match: ifNoneMatch === undefined ? null : listed(ifNoneMatch, true),
    unmodified_since: since === undefined ? null : new Date(since).toISOString(),
  };
}

function listed(header: string, withWeak: boolean): string[] {
  const tags = parseEntityTags(header);
  if (tags === '*') return ['*'];
  return tags.filter(({ weak }) => withWeak || !weak).map(({ value }) => value);
}
