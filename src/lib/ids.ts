import { fromString, typeidUnboxed } from 'typeid-js';

/**
 * Creates an id with the given prefix, for example `role_01h455vb4pex5vsknk084sn02q`. It is a TypeID, that is the prefix
 * and a UUIDv7, so ids sort by the millisecond in which they were created.
 * `at`: the millisecond of the id, instead of the current time of this process's clock.
 */
export function newId(prefix: string, at?: number): string {
  const id = typeidUnboxed(prefix);
  return at === undefined ? id : `${prefix}_${timeDigits(at)}${id.slice(prefix.length + 1 + timeLength)}`;
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
/** The 48 bits of time at the start of a UUIDv7 are the first ten base32 digits of a TypeID. */
const timeLength = 10;

function timeDigits(ms: number): string {
  let text = '';
  for (let time = Math.floor(ms); text.length < timeLength; time = Math.floor(time / 32))
    text = digits[time % 32]! + text;
  return text;
}

/**
 * The millisecond (Unix time) in which the id was created. Throws a `TypeError` when `id` is not a TypeID: check it first.
 */
export function idTime(id: string): number {
  const suffix = form.exec(id)?.[1];
  if (suffix === undefined) throw new TypeError(`not a TypeID: ${id}`);
  let time = 0;
  for (let at = 0; at < timeLength; at++) time = time * 32 + digits.indexOf(suffix[at]!);
  return time;
}
