import type { Pace } from '../pace.ts';
import { Dictionary } from '../keywords/dictionary.ts';
import type { Reading } from '../views/readings.ts';

type Place = readonly [start: number, end: number];

/** Finds marked strings, in whatever form they were hidden. */
export async function findCanaries(
  tokens: readonly string[],
  readings: readonly Reading[],
  pace: Pace,
): Promise<(tokens: readonly string[]) => Place | undefined> {
  const dictionary = new Dictionary();
  const numbers = new Map(tokens.map((token) => [token, dictionary.add(token)]));
  const places = new Map<number, Place>();
  for (const reading of readings)
    await dictionary.find(reading.view, pace, (term, start, end) => {
      if (!places.has(term)) places.set(term, reading.spanOf(start, end));
    });
  return (wanted) => {
    for (const token of wanted) {
      const place = places.get(numbers.get(token) ?? -1);
      if (place !== undefined) return place;
    }
    return undefined;
  };
}

/** The words of a sequence that counts as repeated. */
const wordsInSequence = 8;

/** The share of the sequences of words of a system prompt that a text repeats. */
export async function repeatedShare(
  prompt: readonly string[],
  text: readonly string[],
  pace: Pace,
): Promise<number> {
  if (prompt.length < wordsInSequence) return 0;
  const sequences = new Set<string>();
  const sequencesOf = async (words: readonly string[], each: (sequence: string) => void) => {
    for (let at = 0; at + wordsInSequence <= words.length; at++) {
      each(words.slice(at, at + wordsInSequence).join(' '));
      if (at % 256 === 255 && pace.isDue) await pace.rest();
    }
  };
  await sequencesOf(prompt, (sequence) => sequences.add(sequence));
  const all = sequences.size;
  await sequencesOf(text, (sequence) => sequences.delete(sequence));
  return (all - sequences.size) / all;
}
