import type { Pace } from '../pace.ts';
import { folded } from './folding.ts';
import { reading, type Reading } from './readings.ts';

/** Characters that are invisible or blank, between letters of scripts that need none there. */
const between =
  /(?<=[A-Za-z\u00c0-\u052f])[\u034f\u115f\u1160\u180e\u200b\u2060-\u2064\u3164\ufeff\uffa0]+(?=[A-Za-z\u00c0-\u052f])/;
const all = new RegExp(between, 'g');

/**
 * The text with spaces in place of fillers between letters; undefined when there are none. Otherwise they are left out, which
 * joins the words that they divide.
 */
export async function betweenFillers(text: string, pace: Pace): Promise<Reading | undefined> {
  if (!between.test(text)) return undefined;
  const spaced = text.replace(all, (fillers) => ' '.repeat(fillers.length));
  return reading(await folded(spaced, pace), 'fillers');
}
