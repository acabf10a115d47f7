import type { IncomingHttpHeaders } from 'node:http';
import { httpDate } from '../../content/http-headers.ts';
import { checkMetadata } from '../../content/metadata.ts';
import type { ObjectFields, ObjectRow } from '../../objects/objects.store.ts';
import { s3Error } from '../protocol/errors.ts';
import type { Query } from '../protocol/requests.ts';

const metadataPrefix = 'x-amz-meta-';
const mostMetadata = 50;

const mediaType = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+\/[A-Za-z0-9!#$%&'*+.^_`|~-]+([ \t]*;[\t -~]*)?$/;

/** What the headers of a request say about content. In a signed URL the metadata may be in the query. */
export function fieldsOf(headers: IncomingHttpHeaders, query: Query): ObjectFields {
  const content_type = headers['content-type'] ?? 'application/octet-stream';
  if (content_type.length > 255 || !mediaType.test(content_type))
    throw s3Error('InvalidArgument', 'Content-Type must be a media type of at most 255 characters');
  return {
    content_type,
    cache_control: stored('Cache-Control', headers['cache-control']),
    content_disposition: stored('Content-Disposition', headers['content-disposition']),
    content_encoding: stored('Content-Encoding', withoutChunked(headers['content-encoding'])),
    content_language: stored('Content-Language', headers['content-language']),
    metadata: metadataOf(headers, query),
  };
}

function stored(name: string, value: string | undefined): string | null {
  if (value === undefined || value === '') return null;
  if (!/^[ -~]{1,255}$/.test(value))
    throw s3Error('InvalidArgument', `${name} must be at most 255 printable ASCII characters`);
  return value;
}

/** The chunks belong to the transfer and not to the content. */
function withoutChunked(encoding: string | undefined): string | undefined {
  const rest = encoding
    ?.split(',')
    .map((one) => one.trim())
    .filter((one) => one.toLowerCase() !== 'aws-chunked');
  return rest?.join(',');
}

function metadataOf(headers: IncomingHttpHeaders, query: Query): Record<string, string> {
  const given = [
    ...query.pairs.map(([name, value]) => [name.toLowerCase(), value] as const),
    ...Object.entries(headers).map(([name, value]) => [name, textOf(String(value))] as const),
  ].filter(([name]) => name.startsWith(metadataPrefix));
  const metadata = Object.fromEntries(
    given.map(([name, value]) => [name.slice(metadataPrefix.length), value] as const),
  );
  if (Object.keys(metadata).length > mostMetadata)
    throw s3Error('MetadataTooLarge', `At most ${mostMetadata} values of metadata are allowed`);
  checkMetadata(metadata);
  return metadata;
}

/** Node reads the bytes of headers as Latin-1; clients that send more than ASCII send UTF-8. */
function textOf(value: string): string {
  const text = Buffer.from(value, 'latin1').toString('utf8');
  if (text.includes('\ufffd')) throw s3Error('InvalidArgument', 'Metadata must be UTF-8');
  return text;
}

/** The headers with which an object is described. */
export function describingHeaders(object: ObjectRow, tag: string): Record<string, string> {
  const { cache_control, content_disposition, content_encoding, content_language, metadata } = object;
  return {
    ETag: tag,
    'Last-Modified': httpDate(object.last_modified),
    'Accept-Ranges': 'bytes',
    // Stored pages must not run in the origin of the service.
    'Content-Security-Policy': "sandbox; default-src 'none'",
    ...(cache_control !== null && { 'Cache-Control': cache_control }),
    ...(content_disposition !== null && { 'Content-Disposition': content_disposition }),
    ...(content_encoding !== null && { 'Content-Encoding': content_encoding }),
    ...(content_language !== null && { 'Content-Language': content_language }),
    ...Object.fromEntries(
      Object.entries(metadata).map(([name, value]) => [metadataPrefix + name, headerText(value)]),
    ),
  };
}

/** Headers carry printable ASCII; other values are encoded as S3 does (RFC 2047). */
const headerText = (value: string): string =>
  /^[ -~]*$/.test(value) && value === value.trim()
    ? value
    : `=?UTF-8?B?${Buffer.from(value, 'utf8').toString('base64')}?=`;

/** The checksum of the whole content in the form of S3, for clients that ask for it. */
export function checksumHeaders({ checksum }: Pick<ObjectRow, 'checksum'>): Record<string, string> {
  const [algorithm = '', hex = ''] = checksum.split(':');
  return {
    [`x-amz-checksum-${algorithm}`]: Buffer.from(hex, 'hex').toString('base64'),
    'x-amz-checksum-type': 'FULL_OBJECT',
  };
}

const overridable = {
  'response-content-type': 'Content-Type',
  'response-content-language': 'Content-Language',
  'response-expires': 'Expires',
  'response-cache-control': 'Cache-Control',
  'response-content-disposition': 'Content-Disposition',
  'response-content-encoding': 'Content-Encoding',
};

/** Headers that the query asks for in place of the stored ones. */
export function overridingHeaders(query: Query): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [parameter, header] of Object.entries(overridable)) {
    const value = query.get(parameter);
    if (value === undefined) continue;
    if (!/^[ -~]{1,1024}$/.test(value))
      throw s3Error('InvalidArgument', `${parameter} must be at most 1024 printable ASCII characters`);
    found[header] = value;
  }
  return found;
}
