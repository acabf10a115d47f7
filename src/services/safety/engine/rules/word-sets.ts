import { fold } from '../views/folding.ts';
import { textOf } from '../views/view.ts';

/** Words in the form that they have in folded views. */
export const wordSet = (words: string): ReadonlySet<string> =>
  new Set(words.split(' ').map((word) => textOf(fold(word))));
