import { percentEncoded } from '../../content/http-headers.ts';
import { s3Error } from './errors.ts';

/** Encodes a text as the canonical request does: every byte of its UTF-8 except the unreserved ones of RFC 3986. */
export const uriEncode = (text: string): string => percentEncoded(text.toWellFormed());

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
    return [queryText(name), queryText(value)];
  });
}

/** The database cannot hold U+0000, and no name or value has one. */
function queryText(text: string): string {
  const decoded = uriDecode(text.replaceAll('+', ' '));
  if (decoded.includes('\0')) throw s3Error('InvalidArgument', 'The query must not contain U+0000');
  return decoded;
}
