import { compareCodePoints, inOrder } from './code-points.ts';
import type { Pacing, Suspension } from './pacing.ts';

/** Texts between two checks of the clock. */
const textsPerLook = 5_000;
/** Texts sorted at once. */
const textsPerRun = 1_000;

/**
 * Returns the first `count` distinct texts after `after`, in code-point order, without sorting the rest: the search skips every
 * text that sorts after the worst one kept, and trims the kept texts whenever they have doubled.
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
    if (++seen % textsPerLook === 0) yield* pacing.pause();
    if (after !== undefined && compareCodePoints(text, after) <= 0) continue;
    if (worst !== undefined && compareCodePoints(text, worst) >= 0) continue;
    kept.push(text);
    if (kept.length < count * 2) continue;
    kept = (yield* inOrderInSlices(kept, undefined, pacing)).slice(0, count);
    worst = kept.at(-1);
  }
  return (yield* inOrderInSlices(kept, undefined, pacing)).slice(0, count);
}

/** Like `inOrder`, but sorts runs separately and merges them with pauses. */
export function* inOrderInSlices(
  texts: readonly string[],
  after: string | undefined,
  pacing: Pacing,
): Suspension<string[]> {
  let runs: string[][] = [];
  for (let at = 0; at < texts.length; at += textsPerRun) {
    runs.push(inOrder(texts.slice(at, at + textsPerRun), after));
    yield* pacing.pause();
  }
  while (runs.length > 1) {
    const merged: string[][] = [];
    for (let at = 0; at < runs.length; at += 2)
      merged.push(yield* mergedInSlices(runs[at]!, runs[at + 1] ?? [], pacing));
    runs = merged;
  }
  return runs[0] ?? [];
}

/** Merges two sorted lists into one; a text that is in both appears once. */
function* mergedInSlices(
  left: readonly string[],
  right: readonly string[],
  pacing: Pacing,
): Suspension<string[]> {
  const merged: string[] = [];
  for (let l = 0, r = 0; l < left.length || r < right.length;) {
    if (merged.length % textsPerLook === 0) yield* pacing.pause();
    const order = l === left.length ? 1 : r === right.length ? -1 : compareCodePoints(left[l]!, right[r]!);
    merged.push(order <= 0 ? left[l]! : right[r]!);
    if (order <= 0) l++;
    if (order >= 0) r++;
  }
  return merged;
}
