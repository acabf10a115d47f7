/** How many parts an object has; 0 for content that arrived in one piece. */
export interface Sized {
  readonly key: string;
  readonly segments: number;
}

/** The most parts that one transaction deletes, unless a single object has more. */
export const mostParts = 10_000;

/**
 * Divides keys into batches whose objects have at most so many parts together. A thousand objects may have ten million, and whoever
 * deleted them in one transaction would hold up all other writes of the tenant for minutes.
 */
export function deletionBatches(
  keys: readonly string[],
  inParts: readonly Sized[],
  most = mostParts,
): string[][] {
  const segments = new Map(inParts.map((one) => [one.key, one.segments]));
  const batches: string[][] = [];
  let parts = most + 1;
  for (const key of keys) {
    const own = segments.get(key) ?? 0;
    if (parts + own > most) {
      batches.push([]);
      parts = 0;
    }
    batches.at(-1)!.push(key);
    parts += own;
  }
  return batches;
}
