import { Invalid } from './errors.ts';

/** The kind of a cursor's member. A `time` is an RFC 3339 UTC timestamp in the form that the database module writes. */
type Kind = 'string' | 'number' | 'time';
/** The members of a cursor and their kinds. */
export type Shape = Readonly<Record<string, Kind>>;
/** The members of a cursor and their values. */
export type Cursor<S extends Shape> = { [Name in keyof S]: S[Name] extends 'number' ? number : string };

const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z$/;

/** The number of characters that the frame adds to the cursors of a list, so that no other list accepts them. */
export const boundLength = 8;

/** The most characters of a cursor that a list may write: the contract's 1024, less those that the frame adds. */
export const longestCursor = 1024 - boundLength;

/** Encodes a position in a list as opaque text: base64url of JSON. It is not signed, so its content must be harmless when forged. */
export function encodeCursor(place: Record<string, string | number>): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url');
}

/**
 * Decodes a position that `encodeCursor` wrote. Every member of `shape` is present and of its kind, so a forged cursor can
 * choose another position in the caller's own list but cannot make a statement fail. Throws `Invalid('cursor: …')`.
 */
export function decodeCursor<const S extends Shape>(text: string, shape: S): Cursor<S> {
  const place = parse(text);
  for (const [name, kind] of Object.entries(shape)) if (!isKind(place[name], kind)) throw notACursor();
  return place as Cursor<S>;
}

function parse(text: string): Record<string, unknown> {
  if (text.length > 2048 || !/^[A-Za-z0-9_-]+$/.test(text)) throw notACursor();
  try {
    const place: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    if (typeof place === 'object' && place !== null && !Array.isArray(place))
      return place as Record<string, unknown>;
  } catch {
    // Falls through: text that is not JSON is not a cursor.
  }
  throw notACursor();
}

function isKind(value: unknown, kind: Kind): boolean {
  if (kind === 'number') return typeof value === 'number' && Number.isSafeInteger(value);
  if (typeof value !== 'string' || value.includes('\0') || !value.isWellFormed()) return false;
  return kind === 'string' || isTime(value);
}

/** `Date` would turn 30 February into 2 March and knows a year 0, but the database refuses both. */
function isTime(text: string): boolean {
  if (!time.test(text) || text.startsWith('0000')) return false;
  const parsed = Date.parse(text);
  return !Number.isNaN(parsed) && new Date(parsed).toISOString().startsWith(text.slice(0, 19));
}

export const notACursor = () => Invalid('cursor: must be one that this list gave');
