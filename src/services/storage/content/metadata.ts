import { Invalid } from '../../../lib/errors.ts';
import { percentEncoded } from './http-headers.ts';

export type Metadata = Readonly<Record<string, string>>;

const mostBytes = 8192;

/** Checks the names and the size of an object's metadata, whether it arrived in headers or in JSON. */
export function checkMetadata(metadata: Metadata): void {
  let size = 0;
  for (const [name, value] of Object.entries(metadata)) {
    if (!/^[a-z0-9][a-z0-9_-]{0,63}$/.test(name))
      throw Invalid('metadata: names must be 1 to 64 of a-z, 0-9, _ and -, the first a letter or a digit');
    size += name.length + Buffer.byteLength(value);
  }
  if (size > mostBytes) throw Invalid(`metadata: must have at most ${mostBytes} bytes together`);
}

/** The headers that carry metadata in a response. */
export const metadataHeaders = (metadata: Metadata): Record<string, string> =>
  Object.fromEntries(
    Object.entries(metadata).map(([name, value]) => [`X-Store-Meta-${name}`, headerValue(value)]),
  );

/**
 * Values that HTTP would change on the way are percent-encoded (RFC 8187): those with characters other than printable ASCII or with
 * spaces at an end, and those that look encoded already.
 */
const headerValue = (value: string) =>
  /^[\x20-\x7e]*$/.test(value) && value === value.trim() && !/^utf-8''/i.test(value)
    ? value
    : `utf-8''${percentEncoded(value)}`;
