import { ContentDamaged } from '../errors.ts';
import type { ReadableBlob } from './blobs.store.ts';
import { blockSize, intactBytes } from '../content/block-sums.ts';
import type { BytesDriver } from './driver.ts';

/** Bytes from `start` up to but not including `end`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface BlobReaderDeps {
  readonly driver: BytesDriver;
  readonly verifies: boolean;
  /** Called once the bytes of a blob turn out not to be what was stored. */
  readonly onDamage: (tenant: string, blobId: string) => void;
}

/** The numbers of the first block of a span and of the one after its last. */
export const blocksOf = ({ start, end }: Span): readonly [first: number, end: number] => [
  Math.floor(start / blockSize),
  Math.ceil(end / blockSize),
];

/** Reads parts of blobs. No byte is passed on before the checksum of its block was compared. */
export const createBlobReader = ({ driver, verifies, onDamage }: BlobReaderDeps) =>
  async function* read(tenant: string, blob: ReadableBlob, span: Span): AsyncGenerator<Uint8Array, void> {
    const { id, size, content, is_damaged } = blob;
    if (is_damaged) throw ContentDamaged(new Error(`blob ${id} is damaged`));
    if (content !== null) {
      yield content.subarray(span.start, span.end);
      return;
    }
    const [first, endBlock] = blocksOf(span);
    let place = first;
    try {
      for await (const bytes of driver.get(id, {
        start: first * blockSize,
        end: Math.min(endBlock * blockSize, size),
      })) {
        const intact = verifies ? intactBytes(bytes, blob.blocks, place - blob.first_block) : bytes.length;
        const offset = place * blockSize;
        if (intact > 0)
          yield bytes.subarray(Math.max(0, span.start - offset), Math.min(intact, span.end - offset));
        place += intact / blockSize;
        if (intact < bytes.length) throw new Error(`block ${place} of blob ${id} has another checksum`);
      }
    } catch (error) {
      if (isDamage(error)) onDamage(tenant, id);
      throw ContentDamaged(error);
    }
  };

/** What else goes wrong, such as too many open files, says nothing about the bytes. */
const isDamage = (error: unknown): boolean =>
  error instanceof Error && (!('code' in error) || error.code === 'ENOENT' || error.code === 'EIO');

export type BlobReader = ReturnType<typeof createBlobReader>;
