import type { Database } from '../../../db/index.ts';
import { ContentDamaged } from '../errors.ts';
import { type BlobReader, blocksOf, type Span } from './blob-reader.ts';
import { blobStore, type ReadableBlob } from './blobs.store.ts';
import type { Transfers } from './transfers.ts';

/** Bytes on their way to a client. */
export type Pieces = AsyncGenerator<Uint8Array, void>;

/** Sends the bytes of blobs. */
export interface Outgoing {
  /** The bytes of a blob; none when there is no blob. `known` spares looking it up. */
  readonly ofBlob: (tenant: string, id: string | null, span: Span, known?: ReadableBlob) => Pieces;
  /**
   * Begins a transfer, which lasts until the pieces end or are returned. The first one is read before, so that its damage can still be
   * answered.
   */
  readonly begun: (tenant: string, pieces: Pieces) => Promise<Pieces>;
}

export interface OutgoingDeps {
  readonly db: Database;
  readonly transfers: Transfers;
  readonly readBlob: BlobReader;
}

export const createOutgoing = ({ db, transfers, readBlob }: OutgoingDeps): Outgoing => ({
  async *ofBlob(tenant, id, span, known) {
    if (id === null || span.start >= span.end) return;
    const blob = known ?? (await blobStore(db.sql).find(tenant, id, ...blocksOf(span)));
    if (!blob) throw ContentDamaged(new Error(`blob ${id} is gone`));
    yield* readBlob(tenant, blob, span);
  },

  async begun(tenant, pieces) {
    const end = transfers.begin(tenant);
    try {
      return resumed(await pieces.next(), pieces, end);
    } catch (error) {
      end();
      throw error;
    }
  },
});

/**
 * The pieces with the first among them. This is not a generator function, because one that is returned before its first piece was asked
 * for does not run, and so could not end the transfer.
 */
function resumed(first: IteratorResult<Uint8Array, void>, pieces: Pieces, end: () => void): Pieces {
  let ahead: typeof first | undefined = first;
  const ended = async (result: Promise<typeof first>): Promise<typeof first> => {
    try {
      const { done, value } = await result;
      if (done) end();
      return { done, value } as typeof first;
    } catch (error) {
      end();
      throw error;
    }
  };
  return {
    next() {
      const next = ahead ? Promise.resolve(ahead) : pieces.next();
      ahead = undefined;
      return ended(next);
    },
    return() {
      ahead = undefined;
      return ended(pieces.return());
    },
    throw: (error) => ended(pieces.throw(error)),
    [Symbol.asyncIterator]() {
      return this;
    },
    async [Symbol.asyncDispose]() {
      await this.return();
    },
  };
}
