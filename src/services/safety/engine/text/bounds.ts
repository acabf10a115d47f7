import { isWordCode, kindOf, unspaced } from '../views/letters.ts';
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
