import { toDomainError } from '../../../db/errors.ts';
import type { RawResponse } from '../../../http/raw-mounts.ts';
import { DomainError } from '../../../lib/errors.ts';
import { type S3Code, S3Error, s3Error } from './protocol/errors.ts';
import { elements, errorDocument } from './protocol/xml.ts';

/** The codes of S3 for what the service refuses, by the beginning of its message. */
const byMessage: readonly (readonly [RegExp, S3Code])[] = [
  [/^bucket not found/, 'NoSuchBucket'],
  [/^object not found/, 'NoSuchKey'],
  [/^upload not found|^upload is /, 'NoSuchUpload'],
  [/^bucket already exists/, 'BucketAlreadyOwnedByYou'],
  [/^bucket is not empty/, 'BucketNotEmpty'],
  [/^limit reached: \d+ buckets/, 'TooManyBuckets'],
  [/^invalid object key: must have at most/, 'KeyTooLongError'],
  [/^part \d+ is smaller/, 'EntityTooSmall'],
  [/^part \d+ /, 'InvalidPart'],
  [/^parts\[\d+\]\.part_number: must be greater/, 'InvalidPartOrder'],
  [/^checksum mismatch/, 'BadDigest'],
  [/^metadata: must have at most/, 'MetadataTooLarge'],
  [/^body: ended early/, 'IncompleteBody'],
  [/quota exceeded$/, 'QuotaExceeded'],
];

const byKind: Partial<Record<DomainError['kind'], S3Code>> = {
  invalid: 'InvalidArgument',
  unauthenticated: 'AccessDenied',
  forbidden: 'AccessDenied',
  notFound: 'NoSuchKey',
  conflict: 'InvalidRequest',
  preconditionFailed: 'PreconditionFailed',
  tooLarge: 'EntityTooLarge',
  unsupportedMediaType: 'UnsupportedMediaType',
  rangeNotSatisfiable: 'InvalidRange',
  requestTimeout: 'RequestTimeout',
  rateLimited: 'SlowDown',
  unavailable: 'SlowDown',
  storeUnavailable: 'ServiceUnavailable',
  storeFull: 'ServiceUnavailable',
};

/** Whatever was thrown, as an error of S3. What is unexpected reveals nothing. */
export function asS3Error(thrown: unknown): S3Error {
  if (thrown instanceof S3Error) return thrown;
  const error = toDomainError(thrown);
  if (!(error instanceof DomainError)) return s3Error('InternalError', undefined, { cause: error });
  const { kind, message, retryAfter, size, cause } = error;
  const code = byMessage.find(([form]) => form.test(message))?.[1] ?? byKind[kind] ?? 'InternalError';
  const options = { retryAfter, size, cause };
  return s3Error(code, hasOwnMessage(code) ? undefined : message, options);
}

/** S3's own message is the better one where clients show it. */
const hasOwnMessage = (code: S3Code): boolean => code.startsWith('NoSuch') || code === 'InternalError';

/** The response for an error. */
export function errorAnswer(error: S3Error, resource: string, requestId: string): RawResponse {
  const { code, message, status, retryAfter, size, cause } = error;
  const texts = { Code: code, Message: message, ...error.elements, Resource: resource, RequestId: requestId };
  return {
    status,
    contentType: 'application/xml',
    headers: {
      'x-amz-request-id': requestId,
      ...(retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) }),
      ...(size === undefined ? {} : { 'Content-Range': `bytes */${size}` }),
      // The rest of the body would be read as the next request.
      ...(code === 'RequestTimeout' || code === 'IncompleteBody' ? { Connection: 'close' } : {}),
    },
    body: errorDocument(elements(texts)),
    // What is not implemented is no failure of the server.
    ...(status >= 500 && code !== 'NotImplemented' && { cause: cause ?? error }),
  };
}
