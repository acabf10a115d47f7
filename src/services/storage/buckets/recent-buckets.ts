import { LRUCache } from 'lru-cache';
import { type BucketRef, type bucketStore, type FoundBucket, nameOfRef } from './buckets.store.ts';

/** How many buckets a process remembers, and for how long. */
const most = 1_000;
const keptMs = 60_000;

/** Finds buckets, and remembers those that were found recently. */
export function recentBuckets(store: Pick<ReturnType<typeof bucketStore>, 'findAll'>) {
  const recent = new LRUCache<string, FoundBucket>({ max: most, ttl: keptMs });
  return {
    async findAll(asked: readonly BucketRef[]): Promise<Map<string, FoundBucket>> {
      const found = await store.findAll(asked);
      for (const name of asked.map(nameOfRef)) {
        const bucket = found.get(name);
        if (bucket === undefined) recent.delete(name);
        else recent.set(name, bucket);
      }
      return found;
    },
    /** A bucket as it was found recently. It may have changed: only a commit that verifies its version may rest on it. */
    recall: (ref: BucketRef): FoundBucket | undefined => recent.get(nameOfRef(ref)),
  };
}
