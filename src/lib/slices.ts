import { setImmediate as nextTurn } from 'node:timers/promises';

/** Milliseconds of work after which other work has its turn. */
const sliceMs = 8;

/** Does work on one item after the other. A request may have thousands of them, and nobody else's waits until all are done. */
export async function inSlices<Item, Result>(
  items: Iterable<Item>,
  work: (item: Item, at: number) => Result,
): Promise<Result[]> {
  const results: Result[] = [];
  let began = performance.now();
  for (const item of items) {
    results.push(work(item, results.length));
    if (performance.now() - began < sliceMs) continue;
    await nextTurn();
    began = performance.now();
  }
  return results;
}
