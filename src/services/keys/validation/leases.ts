import { Unavailable } from '../../../lib/errors.ts';
import { decide, idleMs, isIdle, newBucket, nextSize, note, peeked, type Bucket } from './lease-bucket.ts';
import {
  subBucketMs,
  type Admission,
  type Grant,
  type Holder,
  type Rate,
  type RateStore,
  type Rest,
} from './rates.ts';

export interface Leases {
  /** Takes `cost` units, from memory where a lease covers them. `cost` 0 asks without consuming. Throws `Unavailable`. */
  take(holder: Holder, rate: Rate, cost: number): Admission | Promise<Admission>;
  /** Gives back what is left and ends the timer. */
  stop(): Promise<void>;
}

/** How often leases that ran out are looked for. */
const sweepMs = 50;
/** A store that answers after its sub-bucket ended this often in a row is too slow to count with. */
const triesWhenLate = 5;

/**
 * Never more than `limit` units in any interval of the window, over all processes (5.6). Units are counted by the store in
 * tenths of the window before they are spent here, and spent here only while their tenth lasts: eleven tenths cover
 * any interval, and the store keeps their sum at or below the limit. The clock is monotonic, so the wall clock of a process
 * has no say in it.
 */
export function createLeases(store: RateStore, clock: () => number = () => performance.now()): Leases {
  const buckets = new Map<string, Bucket>();
  const leased = new Set<Bucket>();
  const rests: Rest[] = [];
  let giving: Promise<void> = Promise.resolve();
  let forgottenAt = clock();

  const giveBack = () => {
    if (rests.length === 0) return;
    const batch = rests.splice(0);
    // What cannot be given back stays counted until it leaves the window: too little is admitted, never too much.
    giving = giving.then(() => store.giveBack(batch)).catch(() => {});
  };
  const sweep = setInterval(() => {
    const now = clock();
    for (const bucket of leased) if (now >= bucket.deadline) retire(bucket);
    giveBack();
    if (now - forgottenAt < idleMs) return;
    forgottenAt = now;
    for (const [key, bucket] of buckets) if (isIdle(bucket, now)) buckets.delete(key);
  }, sweepMs);
  sweep.unref();

  /** Ends the lease of a bucket; what is left of it goes back to the store with the next batch. */
  function retire(bucket: Bucket) {
    leased.delete(bucket);
    if (bucket.rest === 0) return;
    const { holder, slot, rest } = bucket;
    rests.push({ ...holder, subMs: subBucketMs(bucket.rate.windowMs), slot, units: rest });
    bucket.rest = 0;
    bucket.size = Math.max(1, bucket.size >> 1);
  }

  /** The store was away and may have forgotten its last counts: nothing that rests on them is used. It stays counted. */
  function drop() {
    leased.clear();
    for (const bucket of buckets.values()) Object.assign(bucket, { rest: 0, emptyUntil: 0, countedUntil: 0 });
  }

  function bucketOf(holder: Holder, rate: Rate, now: number): Bucket {
    let bucket = buckets.get(holder.key);
    if (bucket === undefined) {
      bucket = newBucket(holder, rate, now);
      buckets.set(holder.key, bucket);
    }
    bucket.askedAt = now;
    if (bucket.rate.limit !== rate.limit || bucket.rate.windowMs !== rate.windowMs) {
      retire(bucket);
      Object.assign(bucket, { rate, size: 1, emptyUntil: 0, countedUntil: 0 });
    }
    return bucket;
  }

  /** Asks the store until everyone who waits has an answer. One question for each key is in flight, the others share it. */
  async function serve(bucket: Bucket): Promise<void> {
    try {
      for (let late = 0; bucket.waiters.length > 0;) {
        if (late === triesWhenLate) throw Unavailable('rate counter answers too slowly');
        if (await reserve(bucket)) late = 0;
        else {
          // What came too late is counted already: asked again before it is given back, it would refuse its own owner.
          late += 1;
          giveBack();
          await giving;
        }
      }
    } catch (error) {
      drop();
      for (const waiter of bucket.waiters.splice(0)) waiter.reject(error);
    } finally {
      bucket.serving = false;
    }
  }

  /** One question to the store; false when its answer came too late, or leaves out units that were ours. */
  async function reserve(bucket: Bucket): Promise<boolean> {
    const before = clock();
    const expired = bucket.rest > 0 && before >= bucket.deadline;
    if (expired) retire(bucket);
    const { rate, holder, rest } = bucket;
    const costs = bucket.waiters.map(({ cost }) => cost);
    const smallest = Math.min(...costs);
    const missing = costs.reduce((sum, cost) => sum + cost, 0) - rest;
    const want = Math.min(rate.limit, Math.max(nextSize(bucket, before), missing, 1));
    const grant = await store.reserve(holder, rate, want, Math.max(smallest - rest, 1));

    const now = clock();
    if (bucket.rate !== rate) {
      // The policy changed meanwhile: these units were counted under the old limit and are not spent under the new one.
      rests.push({ ...holder, subMs: subBucketMs(rate.windowMs), slot: grant.slot, units: grant.granted });
      return true;
    }
    const lost = expired || (rest > 0 && (grant.slot !== bucket.slot || now >= bucket.deadline));
    if (grant.granted > 0) accept(bucket, grant, before);
    note(bucket, grant, now);
    if (now >= bucket.deadline) retire(bucket);
    else if (bucket.rest > 0) leased.add(bucket);
    if (grant.granted === 0 && !lost) {
      bucket.emptyUntil = now + (grant.waitMs ?? 0);
      bucket.emptyCost = smallest;
    }
    settle(bucket, now);
    return grant.granted === 0 ? !lost : now < bucket.deadline;
  }

  /** Reads the count without taking anything; all who ask meanwhile share the answer. */
  async function peek(bucket: Bucket): Promise<Admission> {
    try {
      const grant = await store.reserve(bucket.holder, bucket.rate, 0, 0);
      return peeked(bucket, grant, clock());
    } finally {
      bucket.peek = undefined;
    }
  }

  function accept(bucket: Bucket, grant: Grant, before: number) {
    if (bucket.rest > 0 && grant.slot !== bucket.slot) {
      const { size } = bucket;
      retire(bucket);
      bucket.size = size;
    }
    bucket.rest += grant.granted;
    bucket.slot = grant.slot;
    bucket.leasedAt = before;
    bucket.deadline = before + grant.leftMs;
  }

  /** Answers those who wait, first come first served, as far as lease and knowledge go. */
  function settle(bucket: Bucket, now: number) {
    bucket.waiters = bucket.waiters.filter((waiter) => {
      const admission = decide(bucket, waiter.cost, now);
      if (admission !== undefined) waiter.resolve(admission);
      return admission === undefined;
    });
  }

  return {
    take(holder, rate, cost) {
      const now = clock();
      const bucket = bucketOf(holder, rate, now);
      const admission = decide(bucket, cost, now);
      if (admission !== undefined) return admission;
      if (cost === 0) return (bucket.peek ??= peek(bucket));
      const { promise, resolve, reject } = Promise.withResolvers<Admission>();
      bucket.waiters.push({ cost, resolve, reject });
      if (!bucket.serving) {
        bucket.serving = true;
        void serve(bucket);
      }
      return promise;
    },
    async stop() {
      clearInterval(sweep);
      for (const bucket of leased) retire(bucket);
      giveBack();
      await giving;
    },
  };
}
