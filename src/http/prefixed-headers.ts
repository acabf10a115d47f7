import type { IncomingMessage } from 'node:http';
import { Invalid } from '../lib/errors.ts';
import { clipped } from './clipped.ts';
import type { PrefixedHeaders } from './operation.ts';
import { checkText } from './text.ts';

/**
 * Reads the headers whose names begin with a prefix as a map from the rest of the name, in lower case, to the value. A value with
 * characters other than printable ASCII is sent as `utf-8''` and percent-encoded UTF-8 (RFC 8187, section 3.2.1). Throws
 * `Invalid` for a repeated name, for a malformed value, and for more names or bytes than the contract allows.
 */
export function prefixedHeaderReader(prefixed: PrefixedHeaders) {
  const { prefix } = prefixed;
  const start = prefix.toLowerCase();
  return ({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): Record<string, string> => {
    const map = boundedMap(prefixed);
    for (let at = 0; at < rawHeaders.length; at += 2) {
      const name = rawHeaders[at]!.toLowerCase();
      if (!name.startsWith(start)) continue;
      const rest = name.slice(start.length);
      map.add(rest, () => decoded(rawHeaders[at + 1]!, prefix + clipped(rest)));
    }
    return map.checked();
  };
}

/** Reads such a map that did not arrive in headers: the same names and values are refused. */
export function prefixedMemberReader(prefixed: PrefixedHeaders) {
  const { prefix, member } = prefixed;
  return (given: unknown): Record<string, string> => {
    if (given !== undefined && (typeof given !== 'object' || given === null))
      throw Invalid(`${member}: must be an object`);
    const map = boundedMap(prefixed);
    for (const [name, value] of Object.entries(given ?? {})) {
      const shown = prefix + clipped(name);
      if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]*$/.test(name)) throw Invalid(`${shown}: must be a name of a header`);
      const text = String(value);
      checkText(text, shown);
      map.add(name.toLowerCase(), () => text);
    }
    return map.checked();
  };
}

/** Collects names and values within the bounds of the contract. */
function boundedMap({ prefix, count, bytes }: PrefixedHeaders) {
  const found = new Map<string, string>();
  let size = 0;
  return {
    add(name: string, read: () => string): void {
      if (name === '') throw Invalid(`${prefix}: must be followed by a name`);
      if (found.has(name)) throw Invalid(`${prefix}${clipped(name)}: given more than once`);
      const value = read();
      size += name.length + Buffer.byteLength(value);
      found.set(name, value);
    },
    checked(): Record<string, string> {
      if (found.size > count) throw Invalid(`${prefix}*: must be at most ${count} headers`);
      if (size > bytes) throw Invalid(`${prefix}*: must have at most ${bytes} bytes together`);
      return Object.fromEntries(found);
    },
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
