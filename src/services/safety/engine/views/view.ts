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

/** The offset in the text at which what precedes a unit of the view ends. */
export const rawEnd = rawStart;

/** A growing view. */
export class ViewBuilder {
  codes: Uint16Array;
  offsets: Uint32Array;
  length = 0;

  constructor(expected: number) {
    this.codes = new Uint16Array(expected + 8);
    this.offsets = new Uint32Array(expected + 9);
  }

  add(code: number, offset: number): void {
    if (this.length === this.codes.length) this.#grow();
    this.codes[this.length] = code;
    this.offsets[this.length++] = offset;
  }

  build(end: number): View {
    this.offsets[this.length] = end;
    return {
      codes: this.codes.subarray(0, this.length),
      offsets: this.offsets.subarray(0, this.length + 1),
    };
  }

  #grow(): void {
    const codes = new Uint16Array(this.codes.length * 2);
    codes.set(this.codes);
    this.codes = codes;
    const offsets = new Uint32Array(codes.length + 1);
    offsets.set(this.offsets);
    this.offsets = offsets;
  }
}

/** The text of a part of a view. */
export const textOf = ({ codes }: View, start = 0, end = codes.length): string => {
  let text = '';
  for (let at = start; at < end; at += 4_096)
    text += String.fromCharCode(...codes.subarray(at, Math.min(end, at + 4_096)));
  return text;
};
