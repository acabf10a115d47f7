import { Invalid } from '../../../lib/errors.ts';
import { mostKeyBytes } from './object-key.ts';

/** Encodes the last row of a page, a name, a key or a prefix of keys, as opaque text. */
export const encodeListingCursor = (last: string) =>
  Buffer.from(JSON.stringify({ k: last })).toString('base64url');

/** Decodes what `encodeListingCursor` wrote. A forged cursor can only choose another position in the caller's own list. */
export function decodeListingCursor(text: string): string {
  if (text.length > 4096 || !/^[A-Za-z0-9_-]+$/.test(text)) throw invalidCursor();
  const last = placeIn(Buffer.from(text, 'base64url').toString('utf8'));
  if (typeof last !== 'string' || last.includes('\0') || !last.isWellFormed()) throw invalidCursor();
  if (Buffer.byteLength(last) > mostKeyBytes) throw invalidCursor();
  return last;
}

function placeIn(json: string): unknown {
  try {
    const place: unknown = JSON.parse(json);
    return typeof place === 'object' && place !== null && 'k' in place ? place.k : undefined;
  } catch {
    return undefined;
  }
}

const invalidCursor = () => Invalid('invalid cursor');
