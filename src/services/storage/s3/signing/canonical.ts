import { createHash, createHmac } from 'node:crypto';
import { type QueryPair, uriEncode, uriEncodePath } from '../protocol/encoding.ts';

/** The parts of a request that a signature covers. */
export interface Signable {
  readonly method: string;
  /** The path of the URL as it was sent, percent-decoded once. */
  readonly path: string;
  /** The parameters, without the signature itself. */
  readonly query: readonly QueryPair[];
  /** Names and values as sent, in turn; a name may occur several times. */
  readonly rawHeaders: readonly string[];
  /** The names of the signed headers, in lower case and sorted. */
  readonly signedHeaders: readonly string[];
  /** What the request says of its content: a hash in hexadecimal digits, or a word. */
  readonly payload: string;
}

/** The date, region and service for which a signing key is derived. */
export interface Scope {
  readonly date: string;
  readonly region: string;
}

export const scopeText = ({ date, region }: Scope): string => `${date}/${region}/s3/aws4_request`;

/** The text of the canonical request of Signature Version 4, in the form of S3: the path is encoded once and not normalised. */
export function canonicalRequest(request: Signable): string {
  return [
    request.method,
    uriEncodePath(request.path),
    canonicalQuery(request.query),
    canonicalHeaders(request),
    request.signedHeaders.join(';'),
    request.payload,
  ].join('\n');
}

function canonicalQuery(query: readonly QueryPair[]): string {
  return query
    .map(([name, value]) => [uriEncode(name), uriEncode(value)] as const)
    .sort((a, b) => compare(a[0], b[0]) || compare(a[1], b[1]))
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Each signed header on a line; values of repeated headers are joined, and runs of spaces are one space. */
function canonicalHeaders({ rawHeaders, signedHeaders }: Signable): string {
  const values = new Map<string, string[]>(signedHeaders.map((name) => [name, []]));
  for (let at = 0; at < rawHeaders.length; at += 2)
    values.get(rawHeaders[at]!.toLowerCase())?.push(rawHeaders[at + 1]!.trim().replace(/ +/g, ' '));
  return signedHeaders.map((name) => `${name}:${values.get(name)!.join(',')}\n`).join('');
}

export function stringToSign(time: string, scope: Scope, request: Signable): string {
  return ['AWS4-HMAC-SHA256', time, scopeText(scope), sha256Hex(canonicalRequest(request))].join('\n');
}

/** The key of one secret for one day and region. */
export function signingKey(secret: string, { date, region }: Scope): Buffer {
  return ['s3', 'aws4_request'].reduce(hmac, hmac(hmac(`AWS4${secret}`, date), region));
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

export const signature = (key: Buffer, text: string): string => hmac(key, text).toString('hex');

export const sha256Hex = (data: string | Uint8Array): string =>
  createHash('sha256').update(data).digest('hex');
