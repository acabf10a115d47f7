import type { IncomingMessage } from 'node:http';
import { Invalid } from '../lib/errors.ts';
import { clipped } from './clipped.ts';
import type { PrefixedHeaders } from './operation.ts';
import { checkText } from './text.ts';

/**
 * Reads the headers whose names begin with a prefix as a map from the rest of the name, in lower case, to the value. A value of other
 * characters than printable ASCII comes as `utf-8''` and percent-encoded UTF-8 (RFC 8187, section 3.2.1). Throws `Invalid` for a
 * repeated name, for a malformed value, and for more names or bytes than the contract allows.
 */
export function prefixedHeaderReader({ prefix, count, bytes }: PrefixedHeaders) {
  const start = prefix.toLowerCase();
  return ({ rawHeaders }: IncomingMessage): Record<string, string> => {
    const found = new Map<string, string>();
    let size = 0;
    for (let at = 0; at < rawHeaders.length; at += 2) {
      const header = rawHeaders[at]!;
      const name = header.toLowerCase();
      if (!name.startsWith(start)) continue;
      const rest = name.slice(start.length);
      const shown = prefix + clipped(rest);
      if (rest === '') throw Invalid(`${prefix}: must be followed by a name`);
      if (found.has(rest)) throw Invalid(`${shown}: given more than once`);
      const value = decoded(rawHeaders[at + 1]!, shown);
      size += rest.length + Buffer.byteLength(value);
      found.set(rest, value);
    }
    if (found.size > count) throw Invalid(`${prefix}*: must be at most ${count} headers`);
    if (size > bytes) throw Invalid(`${prefix}*: must have at most ${bytes} bytes together`);
    return Object.fromEntries(found);
  };
}

function decoded(value: string, shown: string): string {
  if (!/^[\x20-\x7e]*$/.test(value))
    throw Invalid(`${shown}: must be printable ASCII, or utf-8'' and percent-encoded`);
  const encoded = /^utf-8''(.*)$/i.exec(value)?.[1];
  if (encoded === undefined) return value;
  let text: string;
  try {
    text = decodeURIComponent(encoded);
  } catch {
    throw Invalid(`${shown}: malformed percent-encoding`);
  }
  checkText(text, shown);
  return text;
}
