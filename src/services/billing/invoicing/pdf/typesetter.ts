import type PDFDocument from 'pdfkit';
import { DocumentFonts } from './fonts/document-fonts.ts';
import type { Faces, Weight } from './fonts/faces.ts';
import { type Piece, piecesOf } from './text/pieces.ts';

type Pdf = InstanceType<typeof PDFDocument>;

/** How a text looks. */
export interface Style {
  /** In points. */
  readonly size: number;
  readonly weight: Weight;
  readonly color: string;
}

interface SetPiece extends Piece {
  readonly font: string;
  /** At a size of one point. */
  readonly width: number;
}

interface SetLine {
  readonly pieces: readonly SetPiece[];
  readonly width: number;
}

/** Any list of features makes the library shape a text as a whole instead of word by word, which reversed words need. */
const asOneRun: { features: [] } = { features: [] };

/** Measures and draws lines of printable text in one document, in whatever scripts they are. */
export class Typesetter {
  readonly #pdf: Pdf;
  readonly #faces: Faces;
  readonly #fonts: DocumentFonts;
  readonly #lines = { regular: new Map<string, SetLine>(), strong: new Map<string, SetLine>() };

  constructor(pdf: Pdf, faces: Faces) {
    this.#pdf = pdf;
    this.#faces = faces;
    this.#fonts = new DocumentFonts(faces);
  }

  readonly widthOf = (line: string, { size, weight }: Pick<Style, 'size' | 'weight'>): number =>
    this.#set(line, weight).width * size;

  /** Draws a line from the left end of its baseline. */
  draw(line: string, x: number, baseline: number, { size, weight, color }: Style): void {
    const pdf = this.#pdf.fillColor(color);
    for (const { font, text, isReversed, width } of this.#set(line, weight).pieces) {
      const options = { lineBreak: false, baseline: 'alphabetic' as const, ...(isReversed && asOneRun) };
      pdf.font(font, size).text(text, x, baseline, options);
      x += width * size;
    }
  }

  /** Opens the fonts that texts need, step by step, because opening one takes milliseconds. Anything else opens its font when it is drawn. */
  *prepare(texts: Iterable<string>, weight: Weight): Generator<void> {
    for (const text of texts) {
      for (const character of text) {
        const face = this.#faces.faceOf(character, undefined);
        if (face === undefined || this.#fonts.has(face, weight)) continue;
        this.#set(character, weight);
        yield;
      }
      yield;
    }
  }

  /** Prepares the fonts for the end of the document, step by step. */
  finish(): Generator<void> {
    return this.#fonts.finish();
  }

  #set(line: string, weight: Weight): SetLine {
    const known = this.#lines[weight].get(line);
    if (known !== undefined) return known;
    const pieces = piecesOf(line, this.#faces.faceOf).map((piece): SetPiece => {
      const font = this.#fontOf(piece.face, weight);
      this.#pdf.font(font, 1);
      return { ...piece, font, width: this.#pdf.widthOfString(piece.text, piece.isReversed ? asOneRun : {}) };
    });
    const set = { pieces, width: pieces.reduce((sum, { width }) => sum + width, 0) };
    this.#lines[weight].set(line, set);
    return set;
  }

  /** The name by which the document knows a font. */
  #fontOf(face: number, weight: Weight): string {
    const name = `${weight}-${face}`;
    if (!this.#fonts.has(face, weight)) {
      // The declarations do not know that a parsed font will do.
      this.#pdf.registerFont(name, this.#fonts.open(face, weight) as unknown as Buffer);
    }
    return name;
  }
}
