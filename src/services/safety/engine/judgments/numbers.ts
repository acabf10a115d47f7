import type { Pace } from '../pace.ts';
import { wordsOf } from '../text/words.ts';
import { folded } from '../views/folding.ts';
import { sentencesOf } from './sentences.ts';

/** Numbers with their separators, and words that begin with a capital. */
const number = /\d+(?:[.,:/-]\d+)*/g;
const name = /\p{Lu}[\p{L}'’-]+/gu;

/** The share of the numbers, dates and names of a text that the given texts do not have; undefined when it has none. */
export async function unknownShare(
  text: string,
  given: readonly string[],
  pace: Pace,
): Promise<number | undefined> {
  const numbers = new Set<string>();
  const words = new Set<string>();
  let found = 0;
  for (const one of given) {
    for (const [digits] of one.matchAll(number)) {
      numbers.add(plain(digits));
      if (++found % 64 === 0) await pace.restIfDue();
    }
    for (const word of await wordsOf(await folded(one, pace), pace)) words.add(word);
  }
  let claims = 0;
  let unknown = 0;
  for (const sentence of sentencesOf(text)) {
    if (pace.isDue) await pace.rest();
    for (const [digits] of sentence.matchAll(number)) {
      if (++claims % 64 === 0) await pace.restIfDue();
      if (!numbers.has(plain(digits))) unknown++;
    }
    for (const match of sentence.matchAll(name)) {
      // The first word of a sentence is a name only if nothing else stands before it.
      if (isFirstWord(sentence, match.index)) continue;
      if (++claims % 64 === 0) await pace.restIfDue();
      const parts = await wordsOf(await folded(match[0], pace), pace);
      if (!parts.every((part) => words.has(part))) unknown++;
    }
  }
  return claims === 0 ? undefined : unknown / claims;
}

/** Thousands may be divided in one text and not in the other. */
const plain = (digits: string) => digits.replace(/[.,](?=\d{3}(?!\d))/g, '');

const isFirstWord = (sentence: string, at: number) =>
  !/[\p{L}\p{N}]/u.test(sentence.slice(Math.max(0, at - 64), at));
