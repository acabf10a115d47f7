import { createDigits, digits, timeDigits, timeLength } from './id-digits.ts';

const nextDigits = createDigits();

/**
 * Creates an id with the given prefix, for example `role_01h455vb4pex5vsknk084sn02q`. It is a TypeID, that is the prefix
 * and a UUIDv7, so ids sort by the millisecond in which they were created.
 * `at`: the millisecond of the id, instead of the current time of this process's clock.
 */
export function newId(prefix: string, at?: number): string {
  const own = nextDigits();
  return `${prefix}_${at === undefined ? own : timeDigits(at) + own.slice(timeLength)}`;
}

const form = /^[a-z](?:[a-z_]{0,61}[a-z])?_([0-7][0-9a-hjkmnp-tv-z]{25})$/;

/** Whether `text` is a well-formed TypeID with exactly this prefix. */
export const isId = (text: string, prefix: string): boolean =>
  text.startsWith(`${prefix}_`) && text.length === prefix.length + 27 && form.test(text);

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
