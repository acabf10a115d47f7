import { create, type Font } from 'fontkit';
import type { Faces, Weight } from './faces.ts';

/** The fonts of one document, parsed when it first uses them. */
export class DocumentFonts {
  readonly #faces: Faces;
  readonly #open = new Map<string, EarlyFont>();

  constructor(faces: Faces) {
    this.#faces = faces;
  }

  /** Whether the document has used this font. */
  has(face: number, weight: Weight): boolean {
    return this.#open.has(`${face} ${weight}`);
  }

  open(face: number, weight: Weight): Font {
    const font = earlyFont(this.#faces.list[face]!.files[weight]);
    this.#open.set(`${face} ${weight}`, font);
    return font;
  }

  /** Cuts the fonts down to the used glyphs, one by one. Nothing can be drawn afterwards. */
  *finish(): Generator<void> {
    for (const font of this.#open.values()) {
      font.encodeSubset();
      yield;
    }
  }
}

interface EarlyFont extends Font {
  encodeSubset(): void;
}

/** A font whose subset can be encoded before the document ends, which encodes those of all fonts at once. */
function earlyFont(file: Buffer): EarlyFont {
  const font = create(file);
  const subset = font.createSubset();
  return Object.assign(font, {
    createSubset: () => subset,
    encodeSubset() {
      const encoded = subset.encode();
      subset.encode = () => encoded;
    },
  });
}
