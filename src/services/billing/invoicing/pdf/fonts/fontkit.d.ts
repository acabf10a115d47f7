/** The part of the library for fonts that is used here. */
declare module 'fontkit' {
  export interface Subset {
    includeGlyph(glyph: number): number;
    encode(): Uint8Array;
  }

  export interface Font {
    readonly postscriptName: string;
    /** All code points that it has glyphs for. */
    readonly characterSet: readonly number[];
    createSubset(): Subset;
    layout(text: string, features?: readonly string[]): unknown;
  }

  export function create(file: Uint8Array): Font;
}
