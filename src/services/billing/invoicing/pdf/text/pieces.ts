import { bidi } from './bidi.ts';

/** A part of a line that one font draws, in one direction. Pieces follow one another from left to right. */
export interface Piece {
  readonly face: number;
  /** In reading order if the font reverses it, otherwise from left to right. */
  readonly text: string;
  /** Whether the letters run from right to left. */
  readonly isReversed: boolean;
}

/** Which font has a character; undefined if none has. `current` is the font of the character before it. */
export type FaceOf = (character: string, current: number | undefined) => number | undefined;

/** What stands for a character that no font has. */
const replacement = '\ufffd';

const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const letterFromTheRight = new RegExp(rightToLeft, 'u');
/** What belongs to the character before it and is not missed without it. */
const attached = /[\p{M}\p{Default_Ignorable_Code_Point}]/u;

/** Divides a printable line into the pieces to draw. */
export const piecesOf = (line: string, faceOf: FaceOf): Piece[] =>
  rightToLeft.test(line)
    ? bidi.visualRuns(line).flatMap(({ text, isReversed }) => runPieces(text, isReversed, faceOf))
    : byFace(line, faceOf).map((piece) => ({ ...piece, isReversed: false }));

function runPieces(text: string, isReversed: boolean, faceOf: FaceOf): Piece[] {
  const pieces = byFace(text, faceOf);
  if (!isReversed) return pieces.map((piece) => ({ ...piece, isReversed }));
  return pieces.reverse().map(({ face, text }) =>
    // A font reverses letters of its script, but nothing else that stands between them.
    letterFromTheRight.test(text)
      ? { face, text, isReversed: true }
      : { face, text: [...text].reverse().join(''), isReversed: false },
  );
}

function byFace(text: string, faceOf: FaceOf): Pick<Piece, 'face' | 'text'>[] {
  const pieces: { face: number; text: string }[] = [];
  for (const character of text) {
    const last = pieces.at(-1);
    let [shown, face] = [character, faceOf(character, last?.face)];
    if (face === undefined) {
      if (attached.test(character)) continue;
      [shown, face] = [replacement, faceOf(replacement, last?.face) ?? 0];
    }
    if (last?.face === face) last.text += shown;
    else pieces.push({ face, text: shown });
  }
  return pieces;
}
