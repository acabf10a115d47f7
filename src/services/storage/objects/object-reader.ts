import type { Span } from '../bytes/blob-reader.ts';
import { type BlobSpan, createOutgoing, type OutgoingDeps, type Pieces } from '../bytes/outgoing.ts';
import { type Found, objectStore, type Segment } from './objects.store.ts';

/** Content that was read together with its object, because it is short: it is sent at once. Undefined for other content. */
export const contentAtHand = ({ object, blob }: Found, { start, end }: Span): Uint8Array | undefined =>
  object.segments > 0 || blob === undefined || blob.is_damaged
    ? undefined
    : blob.content?.subarray(start, end);

/** Reads spans of objects. A reader keeps to the blobs that it began with, whatever becomes of the object. */
export function createObjectReader(deps: OutgoingDeps) {
  const { ofBlob, ofBlobs, begun } = createOutgoing(deps);
  return async (tenant: string, found: Found, span: Span): Promise<Pieces | undefined> => {
    const { object, blob } = found;
    if (object.segments === 0) return await begun(tenant, ofBlob(tenant, { id: object.blob_id, span }, blob));
    const segments = await objectStore(deps.db.sql).segments(tenant, found, span);
    return segments.length === 0
      ? undefined
      : await begun(tenant, ofBlobs(tenant, segments.map(spanWithin(span))));
  };
}

const spanWithin =
  (span: Span) =>
  ({ start, size, blob_id }: Segment): BlobSpan => ({
    id: blob_id,
    span: { start: Math.max(0, span.start - start), end: Math.min(size, span.end - start) },
  });
