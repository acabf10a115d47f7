import type { Author } from '../../../../db/write.ts';
import type { Database } from '../../../../db/index.ts';
import type { RawRequest, RawResponse } from '../../../../http/raw-mounts.ts';
import { type BucketRow, bucketStore } from '../../buckets/buckets.store.ts';
import { checkKey } from '../../content/object-key.ts';
import type { ObjectRow } from '../../objects/objects.store.ts';
import type { Found, Shelf } from '../../objects/shelf.ts';
import type { Settings } from '../../settings.ts';
import type { Multipart } from '../../uploads/multipart.ts';
import type { Content } from '../bodies/content.ts';
import { s3Error } from '../protocol/errors.ts';
import type { Query, Right, Target } from '../protocol/requests.ts';
import type { Tagged } from '../protocol/tags.ts';
import { tagStore } from './tags.store.ts';

/** What the façade needs of the service. */
export interface S3Deps {
  readonly db: Database;
  readonly settings: Settings;
  readonly shelf: Shelf;
  readonly multipart: Multipart;
  readonly buckets: BucketChanges;
}

/** What happens to buckets, independent of the protocol that asks for it. */
export interface BucketChanges {
  create(author: Author, bucket: { readonly name: string }): Promise<BucketRow>;
  /** Throws `Conflict` when the bucket is not empty. */
  delete(author: Author, ref: string): Promise<void>;
}

/** One request whose signature was verified. */
export interface S3Call {
  readonly request: RawRequest;
  readonly target: Target;
  readonly query: Query;
  readonly author: Author;
  /** The only bucket in which the access key may act, by its id; null means every bucket. */
  readonly onlyBucket: string | null;
  /** Throws `AccessDenied` unless the access key has a right. */
  readonly checkRight: (right: Right) => void;
  readonly content: Content;
  /** The body of an operation that takes a document. */
  readonly document: Buffer;
}

export type Answer = Omit<RawResponse, 'headers'> & { readonly headers?: RawResponse['headers'] };

export const xmlAnswer = (body: string, headers: RawResponse['headers'] = {}): Answer => ({
  status: 200,
  contentType: 'application/xml',
  headers,
  body,
});

export const emptyAnswer = (status: number, headers: RawResponse['headers'] = {}): Answer => ({
  status,
  contentType: null,
  headers,
});

/** Finds a bucket in which the access key may act. */
export async function bucketOf({ db }: S3Deps, call: S3Call): Promise<BucketRow> {
  const name = call.target.bucket;
  checkReference(name);
  const bucket = await bucketStore(db.sql).find(call.author.tenant, name);
  checkBound(call, bucket);
  if (!bucket) throw s3Error('NoSuchBucket', undefined, { elements: { BucketName: name } });
  return bucket;
}

/** A bucket without the object. */
interface Missing {
  readonly bucket: BucketRow;
  readonly object?: undefined;
}

/** Finds an object in a bucket in which the access key may act; only the bucket when there is no such object. */
export async function objectIn(
  { shelf }: S3Deps,
  call: S3Call,
  { bucket, key }: Pick<Target, 'bucket' | 'key'> = call.target,
): Promise<Found | Missing> {
  checkReference(bucket);
  const found = await shelf.find(call.author.tenant, bucket, checkKey(key)).catch((error: unknown) => {
    checkBound(call, undefined);
    throw error;
  });
  checkBound(call, found.bucket);
  return found;
}

/** Finds an object, which must exist. */
export async function objectOf(
  deps: S3Deps,
  call: S3Call,
  place: Pick<Target, 'bucket' | 'key'> = call.target,
): Promise<Found> {
  const found = await objectIn(deps, call, place);
  if (!isFound(found)) throw s3Error('NoSuchKey', undefined, { elements: { Key: place.key } });
  return found;
}

const isFound = (found: { readonly object?: ObjectRow | undefined }): found is Found =>
  found.object !== undefined;

/** No bucket has a name of another form. */
function checkReference(name: string): void {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/.test(name)) throw s3Error('NoSuchBucket');
}

/** What is known about the tag of an object. */
export async function taggedOf(
  { db }: S3Deps,
  call: S3Call,
  { bucket, object, md5 }: Found,
): Promise<Tagged> {
  const { etag, size, key } = object;
  const tag = etag.includes('-')
    ? await tagStore(db.sql).find(call.author.tenant, bucket.id, key, etag)
    : null;
  return { etag, size, md5, tag };
}

/** An access key of one bucket learns nothing about others, not even whether they exist. */
export function checkBound({ onlyBucket }: Pick<S3Call, 'onlyBucket'>, bucket: BucketRow | undefined): void {
  if (onlyBucket !== null && bucket?.id !== onlyBucket) throw s3Error('AccessDenied');
}
