import type { Pace } from '../pace.ts';
import { isWordCode } from '../views/letters.ts';
import { textOf, type View } from '../views/view.ts';

const unitsPerStep = 4_096;

/** The words of a view in their order. */
export async function wordsOf(view: View, pace: Pace): Promise<string[]> {
  const { codes } = view;
  const words: string[] = [];
  let start = -1;
  await pace.through(0, codes.length, unitsPerStep, (from, to) => {
    for (let at = from; at < to; at++) {
      const isWord = isWordCode(codes[at]!);
      if (isWord && start < 0) start = at;
      if (isWord || start < 0) continue;
      words.push(textOf(view, start, at));
      start = -1;
    }
  });
  if (start >= 0) words.push(textOf(view, start, codes.length));
  return words;
}
