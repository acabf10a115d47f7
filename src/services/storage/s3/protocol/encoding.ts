import { s3Error } from './errors.ts';

/** The bytes that S3 leaves as they are when it encodes a URI (RFC 3986, unreserved). */
const unreserved = /^[A-Za-z0-9._~-]$/;

const encoded = Array.from({ length: 256 }, (_, byte) => {
  const letter = String.fromCharCode(byte);
  return unreserved.test(letter) ? letter : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
});

const plain = /^[A-Za-z0-9._~-]*$/;

/** Encodes a text as the canonical request does: every byte of its UTF-8 except the unreserved ones. */
export function uriEncode(text: string): string {
  if (plain.test(text)) return text;
  let result = '';
  for (const byte of Buffer.from(text, 'utf8')) result += encoded[byte]!;
  return result;
}

/** Encodes a path, whose slashes stay. */
export const uriEncodePath = (path: string): string => path.split('/').map(uriEncode).join('/');

/** Decodes percent-encoding once. Throws `InvalidURI` for what is not encoded correctly or is not UTF-8. */
export function uriDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    throw s3Error('InvalidURI', undefined, { cause });
  }
}

/** A parameter of the query, decoded. */
export type QueryPair = readonly [name: string, value: string];

/** The most parameters of a query. No operation has half as many. */
const mostParameters = 100;

/** The parameters of a query in their order. A plus is a space, as clients that build queries like forms expect. */
export function queryPairs(query: string): QueryPair[] {
  if (query === '') return [];
  const parts = query.split('&').filter((part) => part !== '');
  if (parts.length > mostParameters) throw s3Error('InvalidArgument', 'The query has too many parameters');
  return parts.map((part) => {
    const equals = part.indexOf('=');
    const [name, value] = equals === -1 ? [part, ''] : [part.slice(0, equals), part.slice(equals + 1)];
    return [uriDecode(name.replaceAll('+', ' ')), uriDecode(value.replaceAll('+', ' '))];
  });
}
