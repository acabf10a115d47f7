import { crc32c } from '@node-rs/crc32';
import { blockSize } from './driver.ts';

/** Collects the CRC32C of each block of content that arrives in chunks of any size. */
export function blockSums() {
  const sums: number[] = [];
  let crc = 0;
  let filled = 0;
  return {
    update(chunk: Uint8Array): void {
      for (let from = 0; from < chunk.length;) {
        const piece = chunk.subarray(from, from + blockSize - filled);
        crc = crc32c(piece, crc);
        from += piece.length;
        filled += piece.length;
        if (filled === blockSize) next();
      }
    },
    /** Four bytes for each block. */
    digest(): Buffer {
      if (filled > 0) next();
      const bytes = Buffer.allocUnsafe(sums.length * 4);
      sums.forEach((sum, block) => bytes.writeUInt32BE(sum, block * 4));
      return bytes;
    },
  };

  function next(): void {
    sums.push(crc);
    crc = 0;
    filled = 0;
  }
}

/** How many bytes there are before the first block that does not have the checksum that `blockSums` collected, from this place on. */
export function intactBytes(bytes: Uint8Array, sums: Uint8Array, place: number): number {
  const expected = Buffer.from(sums.buffer, sums.byteOffset, sums.byteLength);
  for (let from = 0; from < bytes.length; from += blockSize) {
    const sum = expected.readUInt32BE((place + from / blockSize) * 4);
    if (crc32c(bytes.subarray(from, from + blockSize)) !== sum) return from;
  }
  return bytes.length;
}
