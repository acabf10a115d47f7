import { ordered } from '../../../../lib/ordered.ts';
import type { Pace } from '../pace.ts';
import { wordsOf } from '../text/words.ts';
import { folded } from '../views/folding.ts';
import { sentencesOf } from './sentences.ts';
import { stopWords } from './stop-words.ts';

const fewestContentWords = 4;
/** The share of the content words of a sentence that one window of the sources has, and the words of a window. */
const supportedShare = 0.6;
const windowWords = 60;
/** The most places of a word in the sources that are looked at, which bounds the time for words that are everywhere. */
const mostPlaces = 512;

/** The share of the sentences that the sources do not support; undefined when there are no sentences to judge. */
export async function unsupportedShare(
  text: string,
  sources: readonly string[],
  pace: Pace,
): Promise<number | undefined> {
  const places = await placesOf(sources, pace);
  let judged = 0;
  let unsupported = 0;
  for (const sentence of sentencesOf(text)) {
    const words = await contentWords(sentence, pace);
    if (words.size < fewestContentWords) continue;
    judged++;
    if (!(await isSupported(words, places, pace))) unsupported++;
  }
  return judged === 0 ? undefined : unsupported / judged;
}

async function contentWords(sentence: string, pace: Pace): Promise<Set<string>> {
  const words = new Set<string>();
  for (const [index, word] of (await wordsOf(await folded(sentence, pace), pace)).entries()) {
    if (!stopWords.has(word)) words.add(word);
    if (index % 1_024 === 1_023 && pace.isDue) await pace.rest();
  }
  if (pace.isDue) await pace.rest();
  return words;
}

/** Where each word stands in the sources, by ascending position. Sources are further apart than a window. */
async function placesOf(sources: readonly string[], pace: Pace): Promise<Map<string, number[]>> {
  const places = new Map<string, number[]>();
  let position = 0;
  for (const source of sources) {
    for (const word of await wordsOf(await folded(source, pace), pace)) {
      if (position % 1_024 === 1_023 && pace.isDue) await pace.rest();
      const known = places.get(word);
      if (known === undefined) places.set(word, [position]);
      else if (known.length < mostPlaces) known.push(position);
      position++;
    }
    position += windowWords;
  }
  return places;
}

/** A place in the sources, and the word that stands there. */
interface Occurrence {
  readonly place: number;
  readonly word: string;
}

/** The places of some words in the sources, in their order. */
async function occurrences(
  words: ReadonlySet<string>,
  places: ReadonlyMap<string, number[]>,
  pace: Pace,
): Promise<Occurrence[]> {
  const all: Occurrence[] = [];
  let looked = 0;
  for (const word of words) {
    for (const place of places.get(word) ?? []) all.push({ place, word });
    if (++looked % 16 === 0 && pace.isDue) await pace.rest();
  }
  return await ordered(
    all,
    (one, other) => one.place - other.place,
    () => pace.restIfDue(),
  );
}

/** Whether one window has enough of the words: each place of a word counts for the windows that begin up to one window before. */
async function isSupported(
  words: ReadonlySet<string>,
  places: ReadonlyMap<string, number[]>,
  pace: Pace,
): Promise<boolean> {
  const needed = Math.ceil(supportedShare * words.size - 1e-9);
  const all = await occurrences(words, places, pace);
  const inside = new Map<string, number>();
  for (let first = 0, next = 0; next < all.length; next++) {
    const { place, word } = all[next]!;
    inside.set(word, (inside.get(word) ?? 0) + 1);
    for (; place - all[first]!.place >= windowWords; first++) {
      const left = inside.get(all[first]!.word)! - 1;
      if (left === 0) inside.delete(all[first]!.word);
      else inside.set(all[first]!.word, left);
    }
    if (inside.size >= needed) return true;
    if (next % 1_024 === 1_023 && pace.isDue) await pace.rest();
  }
  return false;
}
