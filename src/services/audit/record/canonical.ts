import canonicalize from 'canonicalize';

/** The canonical JSON of a value (RFC 8785, JCS): one text for all that are equal. */
export function canonicalJson(value: unknown): string {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError('a value without canonical JSON');
  return text;
}
