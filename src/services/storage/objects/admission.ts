import type { BucketRow } from '../buckets/buckets.store.ts';
import { ObjectTooLarge, TypeNotAllowed } from '../errors.ts';
import type { Settings } from '../settings.ts';

type SizeSetting = Pick<Settings, 'maxObjectBytes'>;

/** Content that is to be stored. */
export interface Arrival {
  readonly contentType: string;
  /** Undefined when it is not known yet. */
  readonly size: number | undefined;
  /** The most bytes of this request, besides the limits of the bucket and the service. */
  readonly most?: number | undefined;
}

/** Refuses content that a bucket does not take. Returns the most bytes that it may have. */
export function admit(
  settings: SizeSetting,
  bucket: BucketRow,
  { contentType, size, most }: Arrival,
): number {
  const limit = mostBytes(settings, bucket, most);
  checkType(bucket, contentType);
  checkSize(size, limit);
  return limit;
}

/** Whether a bucket allows a content type; parameters do not matter. */
export function checkType({ allowed_content_types }: BucketRow, contentType: string): void {
  if (allowed_content_types.length === 0) return;
  const type = contentType.split(';', 1)[0]!.trim().toLowerCase();
  const range = `${type.split('/', 1)[0]}/*`;
  const allowed = allowed_content_types.map((one) => one.toLowerCase());
  if (!allowed.includes(type) && !allowed.includes(range)) throw TypeNotAllowed();
}

/** The most bytes of content that arrives in one request; limits of 0 do not count. */
export const mostBytes = (
  { maxObjectBytes }: SizeSetting,
  { max_object_bytes }: BucketRow,
  most = Infinity,
): number => Math.min(maxObjectBytes, max_object_bytes || Infinity, most);

/** @param size undefined when it is not known yet */
export function checkSize(size: number | undefined, most: number): void {
  if (size !== undefined && size > most) throw ObjectTooLarge(most);
}
