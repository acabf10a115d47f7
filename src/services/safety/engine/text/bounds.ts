import type { Pace } from '../pace.ts';
import { isWordCode, kindOf, unspaced, wordKinds } from '../views/letters.ts';
import type { View } from '../views/view.ts';

/** Whether a part of a view begins where a word begins, as far as its script has such bounds. */
export const beginsWord = ({ codes }: View, start: number): boolean =>
  start === 0 || isBound(codes[start - 1]!, codes[start]!);

export const endsWord = ({ codes }: View, end: number): boolean =>
  end === codes.length || isBound(codes[end - 1]!, codes[end]!);

function isBound(left: number, right: number): boolean {
  if (!isWordCode(left) || !isWordCode(right)) return true;
  return (kindOf(left) & unspaced) !== 0 || (kindOf(right) & unspaced) !== 0;
}

const space = 0x20;
const unitsPerStep = 8_192;
const known = new WeakMap<View, Uint32Array>();

/** Where words and signs begin in a view, which several passes over it want to know. */
export async function beginningsOf(view: View, pace: Pace): Promise<Uint32Array> {
  const found = known.get(view);
  if (found !== undefined) return found;
  const { codes } = view;
  const beginnings = new Uint32Array(codes.length);
  let count = 0;
  let before = 0;
  await pace.through(0, codes.length, unitsPerStep, (from, to) => {
    for (let at = from; at < to; at++) {
      const code = codes[at]!;
      const kind = kindOf(code);
      const isWithin =
        (kind & wordKinds) !== 0 && (before & wordKinds) !== 0 && ((kind | before) & unspaced) === 0;
      if (!isWithin && code !== space) beginnings[count++] = at;
      before = kind;
    }
  });
  const result = beginnings.subarray(0, count);
  known.set(view, result);
  return result;
}
