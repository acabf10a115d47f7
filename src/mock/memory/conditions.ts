/** Conditional requests, in the order of RFC 9110 13.2.2, and byte ranges. */

/** The current version of a record. */
export interface Version {
  /** Its strong entity tag, including the quotes. */
  readonly etag: string | undefined;
  readonly modified: Date | undefined;
}

/** Header parameters by name. */
export type Conditions = Readonly<Record<string, unknown>>;

/**
 * Returns the status with which a failed condition ends a request, or undefined when all conditions hold. An undefined version
 * means that nothing exists.
 */
export function failedCondition(
  conditions: Conditions,
  version: Version | undefined,
  isRead: boolean,
): 304 | 412 | undefined {
  const [match, unlike] = [textOf(conditions['If-Match']), textOf(conditions['If-None-Match'])];
  const modified = version?.modified && seconds(version.modified);
  if (match !== undefined) {
    if (!version || !names(match, version.etag, true)) return 412;
  } else {
    const unmodifiedSince = momentOf(conditions['If-Unmodified-Since']);
    if (unmodifiedSince !== undefined && modified !== undefined && modified > unmodifiedSince) return 412;
  }
  if (unlike !== undefined)
    return version && names(unlike, version.etag, false) ? (isRead ? 304 : 412) : undefined;
  const since = momentOf(conditions['If-Modified-Since']);
  return isRead && since !== undefined && modified !== undefined && modified <= since ? 304 : undefined;
}

/** A range of bytes, including the last. */
export interface Range {
  readonly first: number;
  readonly last: number;
}

/**
 * Returns the range that a request asks for. Returns undefined when it asks for none that is valid, or for a range of another
 * version: the answer is then the whole content.
 */
export function rangeOf(
  conditions: Conditions,
  size: number,
  { etag, modified }: Version,
): Range | 'unsatisfiable' | undefined {
  const condition = textOf(conditions['If-Range']);
  const isCurrent = condition === etag || (modified && seconds(modified) === momentOf(condition));
  if (condition !== undefined && !isCurrent) return undefined;
  const parts = /^bytes=(?:(\d+)-(\d*)|-(\d+))$/.exec(textOf(conditions['Range'])?.trim() ?? '');
  if (!parts) return undefined;
  const [, from, to = '', suffix] = parts;
  const first = from === undefined ? Math.max(0, size - Number(suffix)) : Number(from);
  const last = from === undefined || to === '' ? size - 1 : Math.min(Number(to), size - 1);
  if (to !== '' && Number(to) < first) return undefined;
  return first >= size ? 'unsatisfiable' : { first, last };
}

/** Whether a list of entity tags contains this one. A weak tag does not identify exact bytes. */
function names(list: string, etag: string | undefined, exactly: boolean): boolean {
  if (list.trim() === '*') return true;
  const tags = list.match(/(W\/)?"[^"]*"/g) ?? [];
  return tags.some((tag) => (exactly ? tag : tag.replace(/^W\//, '')) === etag);
}

/** HTTP dates have no fractions of a second. */
const seconds = (moment: Date) => Math.floor(moment.getTime() / 1000);

function momentOf(text: unknown): number | undefined {
  const moment = typeof text === 'string' ? Date.parse(text) : NaN;
  return Number.isNaN(moment) ? undefined : seconds(new Date(moment));
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
