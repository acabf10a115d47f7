/** Members that are sorted, or merged, between two pauses. */
const perSlice = 4_096;

/** Sorts a list like `toSorted`, with pauses: parts of it first, which are then merged two by two. */
export async function ordered<Each>(
  list: readonly Each[],
  compare: (a: Each, b: Each) => number,
  pause: () => Promise<void>,
): Promise<Each[]> {
  let sorted: Each[][] = [];
  for (let at = 0; at < list.length; at += perSlice) {
    sorted.push(list.slice(at, at + perSlice).sort(compare));
    if (list.length > perSlice) await pause();
  }
  while (sorted.length > 1) {
    const longer: Each[][] = [];
    for (let at = 0; at < sorted.length; at += 2)
      longer.push(await merged(sorted[at]!, sorted[at + 1] ?? [], compare, pause));
    sorted = longer;
  }
  return sorted[0] ?? [];
}

async function merged<Each>(
  left: readonly Each[],
  right: readonly Each[],
  compare: (a: Each, b: Each) => number,
  pause: () => Promise<void>,
): Promise<Each[]> {
  // Most lists are nearly in order.
  if (right.length === 0 || compare(left.at(-1)!, right[0]!) <= 0) return left.concat(right);
  const all: Each[] = [];
  for (let [a, b] = [0, 0]; a < left.length || b < right.length;) {
    const isLeft = b === right.length || (a < left.length && compare(left[a]!, right[b]!) <= 0);
    all.push(isLeft ? left[a++]! : right[b++]!);
    if (all.length % perSlice === 0) await pause();
  }
  return all;
}
