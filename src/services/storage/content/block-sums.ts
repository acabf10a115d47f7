import { crc32c } from '@node-rs/crc32';
import { crcCombiner, crcHex } from './crc-combination.ts';

/** The bytes that one checksum covers. */
export const blockSize = 256 * 1024;

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
    /** Four bytes for each block, and the CRC32C of the whole as 8 digits, for which no byte is read again. */
    digest(): { readonly blocks: Buffer; readonly whole: string } {
      const ofLast = filled === 0 ? blockSize : filled;
      if (filled > 0) next();
      const blocks = Buffer.allocUnsafe(sums.length * 4);
      sums.forEach((sum, block) => blocks.writeUInt32BE(sum, block * 4));
      const combine = crcCombiner();
      const whole = sums.reduce(
        (all, sum, block) => combine(all, crcHex(sum), block === sums.length - 1 ? ofLast : blockSize),
        crcHex(0),
      );
      return { blocks, whole };
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
