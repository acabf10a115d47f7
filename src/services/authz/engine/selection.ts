import { compareCodePoints, inOrder } from './code-points.ts';
import type { Pacing, Suspension } from './pacing.ts';

/** Texts between two looks at the clock. */
const TEXTS = 5_000;

/**
 * The first `count` of distinct texts behind `after`, in code-point order, without sorting the rest: whatever sorts
 * behind the worst of those that are kept is passed over, and the kept ones are cut back whenever they have doubled.
 */
export function* firstInOrder(
  texts: Iterable<string>,
  after: string | undefined,
  count: number,
  pacing: Pacing,
): Suspension<string[]> {
  let kept: string[] = [];
  let worst: string | undefined;
  let seen = 0;
  for (const text of texts) {
    if (++seen % TEXTS === 0) yield* pacing.pause();
    if (after !== undefined && compareCodePoints(text, after) <= 0) continue;
    if (worst !== undefined && compareCodePoints(text, worst) >= 0) continue;
    kept.push(text);
    if (kept.length < count * 2) continue;
    kept = inOrder(kept, undefined).slice(0, count);
    worst = kept.at(-1);
  }
  return inOrder(kept, undefined).slice(0, count);
}
