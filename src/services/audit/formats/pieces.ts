import { setImmediate as nextTurn } from 'node:timers/promises';

/** The characters of a piece. */
const pieceLength = 16_384;

/** Joins short texts to the pieces of a file. Between two of them other work has its turn, because a file can be long. */
export async function* piecesOf(texts: Iterable<string>): AsyncGenerator<Uint8Array> {
  let piece = '';
  for (const text of texts) {
    piece += text;
    if (piece.length < pieceLength) continue;
    yield Buffer.from(piece);
    piece = '';
    await nextTurn();
  }
  if (piece !== '') yield Buffer.from(piece);
}
