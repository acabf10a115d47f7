import { kindOf, wordKinds } from '../views/letters.ts';
import { textOf, type View } from '../views/view.ts';

/** The scores that count of one kind of evidence. */
const mostCounted = 20;

/** The joint score of independent evidence. */
export function noisyOr(scores: readonly number[]): number {
  const counted =
    scores.length > mostCounted ? scores.toSorted((a, b) => b - a).slice(0, mostCounted) : scores;
  return 1 - counted.reduce((product, score) => product * (1 - score), 1);
}

/** A score to 4 decimals, rounded half up. */
export const rounded = (score: number): number => Math.floor(score * 10_000 + 0.5 + 1e-9) / 10_000;

/** Characters of a word that are looked at, and the distance at which a word still counts as near. */
const longestWord = 40;
const furthest = 160;

/** The words before a position of a view, nearest first. */
export function wordsBefore({ codes }: View, at: number, count: number): string[] {
  const words: string[] = [];
  const first = Math.max(0, at - furthest);
  let end = at;
  while (words.length < count) {
    while (end > first && !isWord(codes[end - 1]!)) end--;
    let start = end;
    while (start > first && isWord(codes[start - 1]!) && end - start < longestWord) start--;
    if (start === end) break;
    words.push(textOf({ codes, offsets: undefined }, start, end));
    end = start;
  }
  return words;
}

/** The words after a position of a view. */
export function wordsAfter({ codes }: View, at: number, count: number): string[] {
  const words: string[] = [];
  const last = Math.min(codes.length, at + furthest);
  let start = at;
  while (words.length < count) {
    while (start < last && !isWord(codes[start]!)) start++;
    let end = start;
    while (end < last && isWord(codes[end]!) && end - start < longestWord) end++;
    if (start === end) break;
    words.push(textOf({ codes, offsets: undefined }, start, end));
    start = end;
  }
  return words;
}

/** Apostrophes belong to words such as `don't`. */
const isWord = (code: number) => (kindOf(code) & wordKinds) !== 0 || code === 0x27 || code === 0x2019;
