import { Invalid } from './errors.ts';

/** What a member of a cursor holds. A `time` is an RFC 3339 UTC timestamp as the database module writes them. */
type Kind = 'string' | 'number' | 'time';
type Shape = Record<string, Kind>;
type Cursor<S extends Shape> = { [Name in keyof S]: S[Name] extends 'number' ? number : string };

const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z$/;

/** The opaque text of a place in a list: base64url of JSON. It is not signed, so it may only hold what is harmless when forged. */
export function encodeCursor(place: Record<string, string | number>): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url');
}

/**
 * The place that `encodeCursor` wrote. Every member of `shape` is present and of its kind, so a forged cursor can choose
 * another place in the caller's own list but cannot make a statement fail. Throws `Invalid('cursor: …')`.
 */
export function decodeCursor<const S extends Shape>(text: string, shape: S): Cursor<S> {
  const place = parse(text);
  for (const [name, kind] of Object.entries(shape)) if (!isKind(place[name], kind)) throw notACursor();
  return place as Cursor<S>;
}

/**
 * Cuts what was read with `limit + 1` to one page. `next` is the cursor after its last row, null when nothing follows.
 */
export function page<Row>(
  rows: readonly Row[],
  limit: number,
  cursorOf: (last: Row) => Record<string, string | number>,
): { items: Row[]; next: string | null } {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return { items, next: rows.length > limit && last !== undefined ? encodeCursor(cursorOf(last)) : null };
}

function parse(text: string): Record<string, unknown> {
  if (text.length > 2048 || !/^[A-Za-z0-9_-]+$/.test(text)) throw notACursor();
  try {
    const place: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    if (typeof place === 'object' && place !== null && !Array.isArray(place))
      return place as Record<string, unknown>;
  } catch {
    // Falls through: text that is no JSON is no cursor.
  }
  throw notACursor();
}

function isKind(value: unknown, kind: Kind): boolean {
  if (kind === 'number') return typeof value === 'number' && Number.isSafeInteger(value);
  if (typeof value !== 'string' || value.includes('\0') || !value.isWellFormed()) return false;
  return kind === 'string' || (time.test(value) && !Number.isNaN(Date.parse(value)));
}

const notACursor = () => Invalid('cursor: must be one that this list gave');
