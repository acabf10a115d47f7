import { fromString, typeidUnboxed } from 'typeid-js';

/**
 * A new id with the given prefix, for example `role_01h455vb4pex5vsknk084sn02q`: a TypeID, that is the prefix and a
 * UUIDv7, so ids sort by the millisecond in which they were made.
 */
export function newId(prefix: string): string {
  return typeidUnboxed(prefix);
}

/** Whether `text` is a well-formed TypeID with exactly this prefix. */
export function isId(text: string, prefix: string): boolean {
  try {
    fromString(text, prefix);
    return true;
  } catch {
    return false;
  }
}

const form = /^[a-z](?:[a-z_]{0,61}[a-z])?_([0-7][0-9a-hjkmnp-tv-z]{25})$/;
const digits = '0123456789abcdefghjkmnpqrstvwxyz';

/**
 * The millisecond (Unix time) in which the id was made: the 48 bits with which a UUIDv7 begins are the first ten base32 digits of
 * a TypeID. Throws a `TypeError` where `id` is no TypeID: check it first.
 */
export function idTime(id: string): number {
  const suffix = form.exec(id)?.[1];
  if (suffix === undefined) throw new TypeError(`not a TypeID: ${id}`);
  let time = 0;
  for (let at = 0; at < 10; at++) time = time * 32 + digits.indexOf(suffix[at]!);
  return time;
}
