import type { Database } from '../../../db/index.ts';
import { ContentDamaged } from '../errors.ts';
import { type BlobReader, blocksOf, type Span } from './blob-reader.ts';
import { blobStore, type ReadableBlob } from './blobs.store.ts';
import type { Transfers } from './transfers.ts';

/** Bytes on their way to a client. */
export type Pieces = AsyncGenerator<Uint8Array, void>;

/** A span of a blob; there is no blob where there are no bytes. */
export interface BlobSpan {
  readonly id: string | null;
  readonly span: Span;
}

/** The most blobs, and their bytes, that are looked up together: they come with their short content, or with their checksums. */
const [mostBlobs, mostBytes] = [16, 1024 ** 3];

/** Sends the bytes of blobs. */
export interface Outgoing {
  /** The bytes of a blob; none when there is no blob. `known` spares looking it up. */
  readonly ofBlob: (tenant: string, blob: BlobSpan, known?: ReadableBlob) => Pieces;
  /** The bytes of blobs one after the other. */
  readonly ofBlobs: (tenant: string, blobs: readonly BlobSpan[]) => Pieces;
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

export function createOutgoing({ db, transfers, readBlob }: OutgoingDeps): Outgoing {
  async function* ofBlobs(tenant: string, blobs: readonly BlobSpan[]): Pieces {
    for (const group of grouped(blobs.filter(isFilled))) {
      const found = await blobStore(db.sql).findAll(tenant, group.map(askedOf));
      for (const [index, { id, span }] of group.entries()) {
        const blob = found[index];
        if (!blob) throw ContentDamaged(new Error(`blob ${id} is gone`));
        yield* readBlob(tenant, blob, span);
      }
    }
  }

  return {
    ofBlobs,
    async *ofBlob(tenant, blob, known) {
      if (!known) yield* ofBlobs(tenant, [blob]);
      else if (isFilled(blob)) yield* readBlob(tenant, known, blob.span);
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
  };
}

type Filled = BlobSpan & { readonly id: string };

const isFilled = (blob: BlobSpan): blob is Filled => blob.id !== null && blob.span.start < blob.span.end;

const askedOf = ({ id, span }: Filled) => {
  const [firstBlock, endBlock] = blocksOf(span);
  return { id, firstBlock, endBlock };
};

/** Divides blobs into groups that are looked up together. */
function grouped(blobs: readonly Filled[]): Filled[][] {
  const groups: Filled[][] = [];
  let bytes = Infinity;
  for (const blob of blobs) {
    const own = blob.span.end - blob.span.start;
    if (bytes + own > mostBytes || groups.at(-1)!.length >= mostBlobs) {
      groups.push([]);
      bytes = 0;
    }
    groups.at(-1)!.push(blob);
    bytes += own;
  }
  return groups;
}

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
