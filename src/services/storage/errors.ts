import type { Constraints } from '../../db/constraints.ts';
import {
  Conflict,
  DomainError,
  Forbidden,
  NotFound,
  PreconditionFailed,
  RangeNotSatisfiable,
  TooLarge,
  Unavailable,
  UnsupportedMediaType,
} from '../../lib/errors.ts';

export const BucketNotFound = () => NotFound('bucket');
export const ObjectNotFound = () => NotFound('object');
export const UploadNotFound = () => NotFound('upload');
export const ContentNotFound = () => NotFound('content');
export const BucketTaken = () => Conflict('bucket already exists');
/** The bucket is not the one by which a write was admitted. Nobody is told: the write is admitted again. */
export const BucketChanged = () => Conflict('bucket has changed');
export const BucketNotEmpty = () => Conflict('bucket is not empty');
export const TooManyBuckets = (most: number) => Conflict(`limit reached: ${most} buckets`);
export const BucketQuotaExceeded = () => TooLarge('bucket quota exceeded');
export const TenantQuotaExceeded = () => TooLarge('tenant quota exceeded');
export const ObjectTooLarge = (most: number) => TooLarge(`object too large: at most ${most} bytes`);
export const TypeNotAllowed = () => UnsupportedMediaType('content type is not allowed in this bucket');
export const ConditionFailed = () => PreconditionFailed('precondition failed');
export const UploadEnded = (status: string) => Conflict(`upload is ${status}`);
export const TooManyReferences = (most: number) => Conflict(`limit reached: ${most} references`);
export const LinkInvalid = () => Forbidden('link is invalid or expired');
export const RangeBeyond = (size: number) => RangeNotSatisfiable('range not satisfiable', { size });
export const TooManyTransfers = () => Unavailable('too many active transfers');
/** The directory of the content cannot be used. */
export const StorageUnavailable = (cause: unknown) => Unavailable('storage unavailable', { cause });
/** The stored bytes are not those that were stored. */
export const ContentDamaged = (cause: unknown) =>
  new DomainError('internal', 'object content is damaged', { cause });

/** What the commit functions of the migrations refuse, by the names under which they do so. */
export const constraints: Constraints = {
  buckets_name: BucketTaken,
  bucket_gone: BucketNotFound,
  bucket_changed: BucketChanged,
  bucket_quota: BucketQuotaExceeded,
  tenant_quota: TenantQuotaExceeded,
  precondition: ConditionFailed,
  blobs_gone: ObjectNotFound,
  upload_gone: UploadNotFound,
  upload_completed: () => UploadEnded('completed'),
  upload_aborted: () => UploadEnded('aborted'),
  upload_expired: () => UploadEnded('expired'),
  content_gone: ContentNotFound,
  cas_references: () => TooManyReferences(10_000),
};

/** The service's envelope: a message that is stable and safe to show, and the status. */
export const encodeError = (error: DomainError, status: number, operation = '') => ({
  error: messageOf(error, operation),
  code: status,
});

/** Operations whose body is content and not JSON. */
const receiving: ReadonlySet<string> = new Set(['Objects_put', 'Uploads_uploadPart', 'Cas_put']);

/** The documented message for errors that the platform raises before the service is asked. */
function messageOf({ kind, message }: DomainError, operation: string): string {
  switch (kind) {
    case 'invalid':
      return inputMessage(message);
    case 'unauthenticated':
      return 'unauthenticated';
    case 'forbidden':
      return message === LinkInvalid().message ? message : 'forbidden';
    case 'requestTimeout':
      return 'body stalled';
    case 'conflict':
      return message.startsWith('idempotency key was used')
        ? 'idempotency key was used with another request'
        : message;
    case 'tooLarge':
      return message.replace(
        /^body: larger than (\d+) bytes$/,
        receiving.has(operation) ? 'object too large: at most $1 bytes' : 'body too large: at most $1 bytes',
      );
    case 'unsupportedMediaType':
      return message.replace(
        /^content-type: must be application\/json$/,
        'content type must be application/json',
      );
    case 'rateLimited':
      return 'rate limit exceeded';
    case 'storeUnavailable':
    case 'storeFull':
      return 'storage unavailable';
    default:
      return message;
  }
}

/** The messages of the service for parameters that the contract refuses, by the beginning of the platform's message. */
const inputs: readonly (readonly [RegExp, string])[] = [
  [/^name: required$/, 'bucket name is required'],
  [/^(?:name|bucket): .*$/s, 'invalid bucket name'],
  [/^path: (malformed percent-encoding)$/, 'invalid object key: $1'],
  [/^key: required$/, 'object key is required'],
  [
    /^key: must match .*$/s,
    'invalid object key: must have no empty segments, no segments . and .., and no control characters',
  ],
  [/^key: (.*)$/s, 'invalid object key: $1'],
  [
    /^X-Store-Checksum: must match .*$/s,
    'invalid checksum header: must be up to three of sha256:<hex>, crc32c:<hex> and md5:<hex>, separated by commas',
  ],
  [/^X-Store-Checksum: (.*)$/s, 'invalid checksum header: $1'],
  [/^If-(?:None-)?Match: .*$/s, 'invalid entity tag list'],
  [/^cursor: .*$/s, 'invalid cursor'],
  [/^hash: .*$/s, 'invalid hash'],
  [/^partNum: .*$/s, 'invalid part number'],
  [/^id: (.*)$/s, 'invalid id: $1'],
];

function inputMessage(message: string): string {
  const found = inputs.find(([form]) => form.test(message));
  return found ? message.replace(...found) : message;
}
