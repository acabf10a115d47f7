import { grown } from './columns.ts';

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const noDigit = 255;
/** The value of a digit by its character code. */
const digits = new Uint8Array(128).fill(noDigit);
for (let value = 0; value < alphabet.length; value++) digits[alphabet.charCodeAt(value)] = value;
const suffixLength = 26;

/**
 * The record ids of a table by row: the 128 bits of a TypeID in four words instead of a 30-character string. An id in any other
 * form is kept as a string.
 */
export class PackedIds {
  #words: Uint32Array = new Uint32Array(4_096);
  readonly #odd = new Map<number, string>();
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = `${prefix}_`;
  }

  resize(rows: number): void {
    while (this.#words.length < rows * 4)
      this.#words = grown(this.#words, (length) => new Uint32Array(length));
  }

  set(row: number, id: string): void {
    if (!this.#pack(row, id)) this.#odd.set(row, id);
    else if (this.#odd.size > 0) this.#odd.delete(row);
  }

  get(row: number): string {
    const odd = this.#odd.size === 0 ? undefined : this.#odd.get(row);
    return odd ?? this.#prefix + this.#unpack(row);
  }

  /** Whether the id of one row sorts before that of another. */
  precedes(row: number, other: number): boolean {
    if (this.#odd.size > 0) return this.get(row) < this.get(other);
    for (let word = 0; word < 4; word++) {
      const difference = this.#words[row * 4 + word]! - this.#words[other * 4 + word]!;
      if (difference !== 0) return difference < 0;
    }
    return false;
  }

  #pack(row: number, id: string): boolean {
    const start = this.#prefix.length;
    if (id.length !== start + suffixLength || !id.startsWith(this.#prefix) || id.charCodeAt(start) > 0x37)
      return false;
    const words = this.#words;
    let place = row * 4;
    let word = 0;
    // The first of the 26 digits holds three bits: 128 in all.
    let filled = -2;
    for (let at = start; at < id.length; at++) {
      const digit = digits[id.charCodeAt(at)] ?? noDigit;
      if (digit === noDigit) return false;
      filled += 5;
      if (filled < 32) {
        word = (word << 5) | digit;
      } else {
        filled -= 32;
        words[place++] = (word << (5 - filled)) | (digit >>> filled);
        word = digit & ((1 << filled) - 1);
      }
    }
    return true;
  }

  #unpack(row: number): string {
    const words = this.#words;
    let [a, b, c, d] = [words[row * 4]!, words[row * 4 + 1]!, words[row * 4 + 2]!, words[row * 4 + 3]!];
    let suffix = '';
    for (let digit = 0; digit < suffixLength; digit++) {
      suffix = alphabet[d & 31]! + suffix;
      d = (d >>> 5) | (c << 27);
      c = (c >>> 5) | (b << 27);
      b = (b >>> 5) | (a << 27);
      a = a >>> 5;
    }
    return suffix;
  }
}
