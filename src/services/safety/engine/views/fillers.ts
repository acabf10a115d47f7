import type { Pace } from '../pace.ts';
import { folded } from './folding.ts';
import { reading, type Reading } from './readings.ts';

/**
 * Characters that are invisible or blank, between letters of scripts that need none there; and line breaks as they are written in
 * JSON, whose letter would begin the next word.
 */
const between =
  /(?<=[A-Za-z\u00c0-\u052f])[\u034f\u115f\u1160\u180e\u200b\u2060-\u2064\u3164\ufeff\uffa0]+(?=[A-Za-z\u00c0-\u052f])|\\{1,8}[nrt](?=\p{L})/u;
/** Parts that are made between two looks at the clock. */
const partsPerLook = 512;
const all = new RegExp(between, 'gu');

/**
 * The text with spaces in place of fillers between letters, and of written line breaks; undefined when there are none. Otherwise
 * they are left out, which joins the words that they divide.
 */
export async function betweenFillers(text: string, pace: Pace): Promise<Reading | undefined> {
  if (!between.test(text)) return undefined;
  const parts: string[] = [];
  let at = 0;
  for (const { 0: fillers, index } of text.matchAll(all)) {
    parts.push(text.slice(at, index), ' '.repeat(fillers.length));
    at = index + fillers.length;
    if (parts.length % partsPerLook === 0) await pace.restIfDue();
  }
  return reading(await folded(`${parts.join('')}${text.slice(at)}`, pace), 'fillers');
}
