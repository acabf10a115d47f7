import { LRUCache } from 'lru-cache';

/** How long a count is good enough, in milliseconds. */
const goodForMs = 1_000;
const mostKept = 10_000;

/**
 * Keeps the counts that were made within the last second, because counting costs time by the number of jobs. Those who ask for the same
 * count meanwhile wait for the one that is being made.
 */
export function createCounts() {
  const kept = new LRUCache<string, Promise<object>>({ max: mostKept, ttl: goodForMs });
  return async <T extends object>(name: readonly unknown[], count: () => Promise<T>): Promise<T> => {
    const key = JSON.stringify(name);
    const known = kept.get(key);
    if (known !== undefined) return known as Promise<T>;
    const made = count();
    kept.set(key, made);
    made.catch(() => kept.delete(key));
    return made;
  };
}

export type Counts = ReturnType<typeof createCounts>;
