/** Canonical JSON (RFC 8785) of I-JSON values (RFC 7493): equal values have equal texts. */

/** The maximum number of levels of a value: a scalar has none, `[]` has one. */
export const deepestLevel = 60;
/** The maximum size of the value of a register, in bytes of its canonical form. */
export const longestValue = 262_144;
/** The maximum size of an element of a set, in bytes of its canonical form. */
export const longestElement = 4_096;

/** A value that is not I-JSON, or is too deep or too long. The message says which. */
export class NotCanonical extends Error {
  override readonly name = 'NotCanonical';
}

/** Returns the canonical form, and throws for what no other node could read in the same way. */
export function canonical(value: unknown, longest = Infinity): string {
  const text = written(value, 0);
  // A character has at most three bytes for each of its UTF-16 units.
  if (text.length * 3 > longest && byteLength(text) > longest)
    throw new NotCanonical(`at most ${longest} bytes`);
  return text;
}

function written(value: unknown, level: number): string {
  switch (typeof value) {
    case 'string':
      return writtenString(value);
    case 'number':
      if (!Number.isFinite(value)) throw new NotCanonical('numbers must be finite');
      return JSON.stringify(value);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'object':
      if (value === null) return 'null';
      if (level === deepestLevel) throw new NotCanonical(`at most ${deepestLevel} levels`);
      return Array.isArray(value) ? writtenArray(value, level + 1) : writtenObject(value, level + 1);
    default:
      throw new NotCanonical('must be JSON');
  }
}

function writtenArray(values: readonly unknown[], level: number): string {
  // `map` would skip the holes of an array, which are not JSON.
  return `[${Array.from(values, (value) => written(value, level)).join(',')}]`;
}

function writtenObject(value: object, level: number): string {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null)
    throw new NotCanonical('objects must be plain');
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${writtenString(name)}:${written(member, level)}`).join(',')}}`;
}

/** With the flag `u`, the two halves of a pair are one character. */
const loneSurrogate = /[\ud800-\udfff]/u;

function writtenString(text: string): string {
  if (loneSurrogate.test(text)) throw new NotCanonical('strings must not contain lone surrogates');
  return JSON.stringify(text);
}

/** The length of a text in UTF-8. */
export function byteLength(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    // Each half of a pair is counted with two of the four bytes of the pair.
    if (unit >= 0x80) bytes += unit >= 0x800 && (unit < 0xd800 || unit > 0xdfff) ? 2 : 1;
  }
  return bytes;
}

/** Compares texts by their bytes in UTF-8. */
export function compareBytes(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at += 1) {
    const [left, right] = [a.charCodeAt(at), b.charCodeAt(at)];
    if (left !== right) return rank(left) - rank(right);
  }
  return a.length - b.length;
}

/** Orders the units of UTF-16 by the characters that they stand for: halves of pairs come after all others. */
const rank = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit);
