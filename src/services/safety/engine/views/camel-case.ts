import type { Pace } from '../pace.ts';
import { space } from './folding.ts';
import { reading, type Reading } from './readings.ts';
import { ViewBuilder, type View } from './view.ts';

const unitsPerStep = 8_192;

/** A word of at least three that are written as one. Names of two words are everywhere, and hide nothing. */
const joined = /[a-z][A-Z][A-Za-z]*[a-z][A-Z]/;

const isUpper = (code: number) => code >= 65 && code <= 90;
const isLower = (code: number) => code >= 97 && code <= 122;

/** The text with spaces between words that are written as one, `IgnoreAllRules`; undefined when it has none. */
export async function divided(
  text: string,
  { codes, offsets }: View,
  pace: Pace,
): Promise<Reading | undefined> {
  if (!joined.test(text)) return undefined;
  const builder = new ViewBuilder(codes.length);
  await pace.through(0, codes.length, unitsPerStep, (from, to) => {
    for (let at = from; at < to; at++) {
      const offset = offsets?.[at] ?? at;
      if (beginsPart(text, offset)) builder.add(space, offset);
      builder.add(codes[at]!, offset);
    }
  });
  return reading(builder.build(text.length), 'joined');
}

/** Whether a capital begins a word within another: behind a small letter, or before one at the end of capitals. */
function beginsPart(text: string, at: number): boolean {
  if (!isUpper(text.charCodeAt(at))) return false;
  const before = text.charCodeAt(at - 1);
  return isLower(before) || (isUpper(before) && isLower(text.charCodeAt(at + 1)));
}
