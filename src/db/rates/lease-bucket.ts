import { subBucketMs, type Admission, type Grant, type Holder, type Rate } from './rates.ts';

/** Buckets unused for this long are forgotten, so memory holds buckets only for active keys. */
export const idleMs = 10_000;

export interface Waiter {
  readonly cost: number;
  resolve(admission: Admission): void;
  reject(error: unknown): void;
}

/** This process's knowledge of one key. All times are of the monotonic clock. */
export interface Bucket {
  readonly holder: Holder;
  rate: Rate;
  /** Units that may be spent until `deadline`. The store has counted them in the sub-bucket `slot`. */
  rest: number;
  slot: number;
  leasedAt: number;
  deadline: number;
  /** Number of units that the next lease requests. */
  size: number;
  /** Units counted by the store in its last answer, and how long that answer remains valid. */
  used: number;
  countedUntil: number;
  resetAt: number;
  /** Until then, no request for `emptyCost` or more can be admitted. */
  emptyUntil: number;
  emptyCost: number;
  askedAt: number;
  waiters: Waiter[];
  serving: boolean;
  /** A pending read of the count. */
  peek: Promise<Admission> | undefined;
}

export function newBucket(holder: Holder, rate: Rate, now: number): Bucket {
  return {
    holder,
    rate,
    rest: 0,
    slot: 0,
    leasedAt: now,
    deadline: 0,
    size: 1,
    used: 0,
    countedUntil: 0,
    resetAt: now,
    emptyUntil: 0,
    emptyCost: 0,
    askedAt: now,
    waiters: [],
    serving: false,
    peek: undefined,
  };
}

export const isIdle = (bucket: Bucket, now: number): boolean =>
  !bucket.serving && bucket.rest === 0 && bucket.emptyUntil <= now && now - bucket.askedAt >= idleMs;

/** Returns the answer that memory can give, or undefined when the store has to be asked. */
export function decide(bucket: Bucket, cost: number, now: number): Admission | undefined {
  if (cost > bucket.rate.limit) return refusal(bucket, null, now);
  if (cost === 0) return now < bucket.countedUntil ? admission(bucket, now) : undefined;
  if (cost <= bucket.rest && now < bucket.deadline) {
    bucket.rest -= cost;
    return admission(bucket, now);
  }
  if (now < bucket.emptyUntil && cost >= bucket.emptyCost)
    return refusal(bucket, bucket.emptyUntil - now, now);
  return undefined;
}

const admission = (bucket: Bucket, now: number): Admission => ({
  admitted: true,
  remaining: remaining(bucket),
  resetMs: Math.max(bucket.resetAt - now, 0),
  waitMs: null,
  at: now,
});

const refusal = (bucket: Bucket, waitMs: number | null, now: number): Admission => ({
  admitted: false,
  remaining: remaining(bucket),
  resetMs: Math.max(bucket.resetAt - now, 0),
  waitMs,
  at: now,
});

const remaining = ({ rate, used, rest }: Bucket): number => Math.max(rate.limit - used + rest, 0);

/** Stores what an answer of the store says about the count. */
export function note(bucket: Bucket, grant: Grant, now: number): void {
  bucket.used = grant.used;
  bucket.resetAt = now + grant.resetMs;
  bucket.countedUntil = now + grant.leftMs;
}

export function peeked(bucket: Bucket, grant: Grant, now: number): Admission {
  note(bucket, grant, now);
  return admission(bucket, now);
}

/** Adds the units of a grant to the bucket, which holds none of another sub-bucket. `before` is the time of the request. */
export function accept(bucket: Bucket, grant: Grant, before: number): void {
  bucket.rest += grant.granted;
  bucket.slot = grant.slot;
  bucket.leasedAt = before;
  bucket.deadline = before + grant.leftMs;
}

/** Answers waiters, first come first served, as far as the lease and the known count allow. */
export function settle(bucket: Bucket, now: number): void {
  bucket.waiters = bucket.waiters.filter((waiter) => {
    const admission = decide(bucket, waiter.cost, now);
    if (admission !== undefined) waiter.resolve(admission);
    return admission === undefined;
  });
}

/** What to ask the store for: the units wanted, the fewest that are useful, and the smallest cost that waits. */
export function demandOf(bucket: Bucket, now: number): { want: number; min: number; smallest: number } {
  const costs = bucket.waiters.map(({ cost }) => cost);
  const smallest = Math.min(...costs);
  const missing = costs.reduce((sum, cost) => sum + cost, 0) - bucket.rest;
  const want = Math.min(bucket.rate.limit, Math.max(nextSize(bucket, now), missing, 1));
  return { want, min: Math.max(smallest - bucket.rest, 1), smallest };
}

/** Divisor of the limit for the largest lease of a process. Larger leases mean fewer statements and more idle units. */
const leasedPart = 16;
/** Growth factor of the next lease after one was used up fast. A few steps lead to the full size. */
const growth = 8;

/**
 * Leases grow while they are used up fast, in under 100 ms or half a sub-bucket, and halve otherwise. A process can hold at
 * most a sixteenth of the limit; limits up to sixteen are counted one by one. A key in continuous use therefore needs at most
 * 20 leases per window and process. The price: up to a sixteenth of the limit may lie idle in each other process until its
 * sub-bucket ends.
 */
function nextSize(bucket: Bucket, now: number): number {
  if (bucket.deadline === 0) return bucket.size;
  const fast = Math.max(100, subBucketMs(bucket.rate.windowMs) / 2);
  const size = now - bucket.leasedAt < fast ? bucket.size * growth : bucket.size >> 1;
  bucket.size = Math.min(Math.max(size, 1), Math.ceil(bucket.rate.limit / leasedPart));
  return bucket.size;
}
