import type { Database } from '../../../db/index.ts';
import { type BlobReader, blocksOf, type Span } from '../bytes/blob-reader.ts';
import { blobStore, type ReadableBlob } from '../bytes/blobs.store.ts';
import type { Transfers } from '../bytes/transfers.ts';
import { ContentDamaged } from '../errors.ts';
import { type Found, objectStore, type Segment } from './objects.store.ts';

export interface ObjectReaderDeps {
  readonly db: Database;
  readonly transfers: Transfers;
  readonly readBlob: BlobReader;
}

type Pieces = AsyncGenerator<Uint8Array, void>;

/** Reads spans of objects. A reader keeps to the blobs that it began with, whatever becomes of the object. */
export function createObjectReader({ db, transfers, readBlob }: ObjectReaderDeps) {
  return async (tenant: string, found: Found, span: Span): Promise<Pieces | undefined> => {
    const { object, blob } = found;
    if (object.segments === 0) return await begun(ofBlob(tenant, object.blob_id, blob, span));
    const segments = await objectStore(db.sql).segments(tenant, found, span);
    return segments.length === 0 ? undefined : await begun(ofSegments(tenant, segments, span));
  };

  /** The transfer lasts until the pieces end; the first one is read before, so that its damage can still be answered. */
  async function begun(pieces: Pieces): Promise<Pieces> {
    const end = transfers.begin();
    try {
      const first = await pieces.next();
      return rest(first, pieces, end);
    } catch (error) {
      end();
      throw error;
    }
  }

  async function* ofSegments(tenant: string, segments: readonly Segment[], span: Span): Pieces {
    for (const { start, size, blob_id } of segments) {
      const within = { start: Math.max(0, span.start - start), end: Math.min(size, span.end - start) };
      yield* ofBlob(tenant, blob_id, undefined, within);
    }
  }

  async function* ofBlob(
    tenant: string,
    id: string | null,
    known: ReadableBlob | undefined,
    span: Span,
  ): Pieces {
    if (id === null || span.start >= span.end) return;
    const blob = known ?? (await blobStore(db.sql).find(tenant, id, ...blocksOf(span)));
    if (!blob) throw ContentDamaged(new Error(`blob ${id} is gone`));
    yield* readBlob(tenant, blob, span);
  }
}

async function* rest(first: IteratorResult<Uint8Array, void>, pieces: Pieces, end: () => void): Pieces {
  try {
    if (first.done) return;
    yield first.value;
    yield* pieces;
  } finally {
    end();
    await pieces.return();
  }
}
