import { hash } from 'node:crypto';

/** SHA-256 of bytes, or of text in UTF-8. As text from the library, because a buffer of its own for each digest takes four times as long. */
export const sha256 = (data: Uint8Array | string): Buffer =>
  Buffer.from(hash('sha256', data, 'binary'), 'latin1');

const blockLength = 64;

/** Where short messages are put together, since to make a buffer for each takes about as long as its digest. */
const desk = Buffer.alloc(4_096);

/**
 * A key of HMAC-SHA-256 (RFC 2104), for many short messages: the library makes objects for each message, which takes four times as long
 * as the digests.
 */
export class MacKey {
  /** The key in the two forms in which it precedes what is hashed; behind the second is room for a digest. */
  readonly #inner = Buffer.alloc(blockLength, 0x36);
  readonly #outer = Buffer.alloc(blockLength + 32, 0x5c);

  /** @param key at most 64 bytes */
  constructor(key: Uint8Array) {
    if (key.length > blockLength) throw new TypeError('a longer key would have to be hashed');
    for (let at = 0; at < key.length; at++) {
      this.#inner[at]! ^= key[at]!;
      this.#outer[at]! ^= key[at]!;
    }
  }

  /** The MAC of a message in pieces: bytes, or text in UTF-8. */
  of(...message: readonly (Uint8Array | string)[]): Buffer {
    let most = blockLength;
    for (const piece of message) most += typeof piece === 'string' ? 3 * piece.length : piece.length;
    const room = most <= desk.length ? desk : Buffer.allocUnsafe(most);
    room.set(this.#inner);
    let length = blockLength;
    for (const piece of message)
      if (typeof piece === 'string') length += room.write(piece, length);
      else {
        room.set(piece, length);
        length += piece.length;
      }
    const inner = hash('sha256', room.subarray(0, length), 'binary');
    this.#outer.write(inner, blockLength, 'latin1');
    return sha256(this.#outer);
  }
}
