/**
 * A form of the text in which rules are matched: code units, and for each of them the offset in the text at which it begins.
 * `offsets` has one more element, the end of the text; without it the offsets are those of the text.
 */
export interface View {
  readonly codes: Uint16Array;
  readonly offsets: Uint32Array | undefined;
}

/** The offset in the text at which a unit of the view begins. */
export const rawStart = ({ offsets }: View, at: number): number =>
  offsets === undefined ? at : offsets[at]!;

/** The most units that become of one. */
const mostUnits = 18;

/** A growing view. It has offsets of its own only from where they differ from those of the text. */
export class ViewBuilder {
  codes: Uint16Array;
  length = 0;
  #offsets: Uint32Array | undefined;
  readonly #expected: number;

  constructor(expected: number) {
    this.#expected = expected;
    this.codes = new Uint16Array(expected + 8);
  }

  add(code: number, offset: number): void {
    if (this.length === this.codes.length) this.#grow(offset);
    if (this.#offsets !== undefined || offset !== this.length) this.#offset(offset);
    this.codes[this.length++] = code;
  }

  /** Takes back the last unit. */
  drop(): void {
    this.length--;
  }

  build(end: number): View {
    if (this.#offsets !== undefined || end !== this.length) this.#offset(end);
    return {
      codes: this.codes.subarray(0, this.length),
      offsets: this.#offsets?.subarray(0, this.length + 1),
    };
  }

  #offset(offset: number): void {
    if (this.#offsets === undefined) {
      this.#offsets = new Uint32Array(this.codes.length + 1);
      for (let at = 0; at < this.length; at++) this.#offsets[at] = at;
    }
    this.#offsets[this.length] = offset;
  }

  /** Grows at once by as much as the rest is likely to need, because copying a large view takes long. */
  #grow(offset: number): void {
    const likely = Math.ceil((this.length / (offset + 1)) * this.#expected * 1.01);
    const most = this.length + mostUnits * (this.#expected - offset);
    const codes = new Uint16Array(Math.max(this.length * 2, Math.min(likely, most)));
    codes.set(this.codes);
    this.codes = codes;
    if (this.#offsets === undefined) return;
    const offsets = new Uint32Array(codes.length + 1);
    offsets.set(this.#offsets);
    this.#offsets = offsets;
  }
}

/** The text of a part of a view. */
export const textOf = ({ codes }: View, start = 0, end = codes.length): string =>
  end - start < longestSpread
    ? String.fromCharCode(...codes.subarray(start, end))
    : Buffer.from(codes.buffer, codes.byteOffset + 2 * start, 2 * (end - start)).toString('utf16le');

/** From this length on, a buffer is faster. */
const longestSpread = 256;
