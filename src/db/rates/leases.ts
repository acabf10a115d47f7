import { Unavailable } from '../../lib/errors.ts';
import {
  accept,
  decide,
  demandOf,
  idleMs,
  isIdle,
  newBucket,
  note,
  peeked,
  settle,
  type Bucket,
} from './lease-bucket.ts';
import { Returns } from './lease-returns.ts';
import type { Admission, Grant, Holder, Rate, RateStore } from './rates.ts';

export interface Leases {
  /** Takes `cost` units, from memory when a lease covers them. `cost` 0 asks without consuming. @throws Unavailable */
  take(holder: Holder, rate: Rate, cost: number): Admission | Promise<Admission>;
  /** Returns unspent units and stops the timer. */
  stop(): Promise<void>;
}

/** Milliseconds between two checks for leases that ran out. */
const sweepMs = 50;
/** A store that answers this many times in a row after its sub-bucket has ended is too slow to count with. */
const triesWhenLate = 5;

/**
 * Guarantees at most `limit` units in any interval of the window, over all processes. The store counts units in tenths of the
 * window before they are spent here, and they are spent only while their tenth lasts: eleven tenths cover any interval, and the
 * store keeps their sum at or below the limit. The clock is monotonic, so the wall clock of a process has no effect.
 */
export const createLeases = (store: RateStore, clock: () => number = () => performance.now()): Leases =>
  new LeaseTable(store, clock);

class LeaseTable implements Leases {
  readonly #store: RateStore;
  readonly #clock: () => number;
  readonly #returns: Returns;
  readonly #buckets = new Map<string, Bucket>();
  /** The buckets that hold unspent units. */
  readonly #leased = new Set<Bucket>();
  readonly #timer: NodeJS.Timeout;
  #forgottenAt: number;

  constructor(store: RateStore, clock: () => number) {
    this.#store = store;
    this.#clock = clock;
    this.#returns = new Returns(store);
    this.#forgottenAt = clock();
    this.#timer = setInterval(() => this.#sweep(), sweepMs).unref();
  }

  take(holder: Holder, rate: Rate, cost: number): Admission | Promise<Admission> {
    const now = this.#clock();
    const bucket = this.#bucketOf(holder, rate, now);
    const admission = decide(bucket, cost, now);
    if (admission !== undefined) return admission;
    if (cost === 0) return (bucket.peek ??= this.#peek(bucket));
    const { promise, resolve, reject } = Promise.withResolvers<Admission>();
    bucket.waiters.push({ cost, resolve, reject });
    if (!bucket.serving) {
      bucket.serving = true;
      void this.#serve(bucket);
    }
    return promise;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    for (const bucket of this.#leased) this.#retire(bucket);
    await this.#returns.flush();
  }

  #bucketOf(holder: Holder, rate: Rate, now: number): Bucket {
    let bucket = this.#buckets.get(holder.key);
    if (bucket === undefined) {
      bucket = newBucket(holder, rate, now);
      this.#buckets.set(holder.key, bucket);
    }
    bucket.askedAt = now;
    if (bucket.rate.limit !== rate.limit || bucket.rate.windowMs !== rate.windowMs) {
      this.#retire(bucket);
      Object.assign(bucket, { rate, size: 1, emptyUntil: 0, countedUntil: 0 });
    }
    return bucket;
  }

  /** Asks the store until every waiter has an answer. Each key has one request in flight, which the waiters share. */
  async #serve(bucket: Bucket): Promise<void> {
    try {
      for (let late = 0; bucket.waiters.length > 0;) {
        if (late === triesWhenLate) throw Unavailable('rate counter answers too slowly');
        if (await this.#reserve(bucket)) late = 0;
        else {
          // Units that came too late are already counted: asking again before they are given back could refuse the key because
          // of its own units.
          late += 1;
          await this.#returns.flush();
        }
      }
    } catch (error) {
      this.#drop();
      for (const waiter of bucket.waiters.splice(0)) waiter.reject(error);
    } finally {
      bucket.serving = false;
    }
  }

  /** Makes one request to the store. Returns false when its answer came too late, or does not account for units that this process held. */
  async #reserve(bucket: Bucket): Promise<boolean> {
    const before = this.#clock();
    const expired = bucket.rest > 0 && before >= bucket.deadline;
    if (expired) this.#retire(bucket);
    const { rate, holder, rest } = bucket;
    const { want, min, smallest } = demandOf(bucket, before);
    const grant = await this.#store.reserve(holder, rate, want, min);

    const now = this.#clock();
    if (bucket.rate !== rate) {
      // The policy changed meanwhile: these units were counted under the old limit and are not spent under the new one.
      this.#returns.add(holder, rate, grant.slot, grant.granted);
      return true;
    }
    const lost = expired || (rest > 0 && (grant.slot !== bucket.slot || now >= bucket.deadline));
    if (grant.granted > 0) this.#accept(bucket, grant, before);
    note(bucket, grant, now);
    if (now >= bucket.deadline) this.#retire(bucket);
    else if (bucket.rest > 0) this.#leased.add(bucket);
    if (grant.granted === 0 && !lost) {
      bucket.emptyUntil = now + (grant.waitMs ?? 0);
      bucket.emptyCost = smallest;
    }
    settle(bucket, now);
    return grant.granted === 0 ? !lost : now < bucket.deadline;
  }

  /** Reads the count without taking units. Requests made meanwhile share the answer. */
  async #peek(bucket: Bucket): Promise<Admission> {
    try {
      const grant = await this.#store.reserve(bucket.holder, bucket.rate, 0, 0);
      return peeked(bucket, grant, this.#clock());
    } finally {
      bucket.peek = undefined;
    }
  }

  #accept(bucket: Bucket, grant: Grant, before: number): void {
    if (bucket.rest > 0 && grant.slot !== bucket.slot) {
      const { size } = bucket;
      this.#retire(bucket);
      bucket.size = size;
    }
    accept(bucket, grant, before);
  }

  /** Ends the lease of a bucket. Unspent units go back to the store with the next batch. */
  #retire(bucket: Bucket): void {
    this.#leased.delete(bucket);
    if (bucket.rest === 0) return;
    this.#returns.add(bucket.holder, bucket.rate, bucket.slot, bucket.rest);
    bucket.rest = 0;
    bucket.size = Math.max(1, bucket.size >> 1);
  }

  /**
   * Drops everything that rests on the store's counts, because the store was unreachable and may have lost the latest ones. The
   * units stay counted.
   */
  #drop(): void {
    this.#leased.clear();
    for (const bucket of this.#buckets.values())
      Object.assign(bucket, { rest: 0, emptyUntil: 0, countedUntil: 0 });
  }

  #sweep(): void {
    const now = this.#clock();
    for (const bucket of this.#leased) if (now >= bucket.deadline) this.#retire(bucket);
    void this.#returns.flush();
    if (now - this.#forgottenAt < idleMs) return;
    this.#forgottenAt = now;
    for (const [key, bucket] of this.#buckets) if (isIdle(bucket, now)) this.#buckets.delete(key);
  }
}
