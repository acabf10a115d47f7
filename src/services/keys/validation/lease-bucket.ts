import { subBucketMs, type Admission, type Grant, type Holder, type Rate } from './rates.ts';

/** Buckets that nobody asked for this long are forgotten, so memory holds one for each active key only. */
export const idleMs = 10_000;

export interface Waiter {
  readonly cost: number;
  resolve(admission: Admission): void;
  reject(error: unknown): void;
}

/** What this process knows of one key. All times are of the monotonic clock. */
export interface Bucket {
  readonly holder: Holder;
  rate: Rate;
  /** Units that may still be spent, until `deadline`, counted by the store in the sub-bucket `slot`. */
  rest: number;
  slot: number;
  leasedAt: number;
  deadline: number;
  /** How many units the next lease asks for. */
  size: number;
  /** Units counted by the store at its last answer, and how long that answer says something. */
  used: number;
  countedUntil: number;
  resetAt: number;
  /** Until then nobody who needs `emptyCost` or more can be admitted. */
  emptyUntil: number;
  emptyCost: number;
  askedAt: number;
  waiters: Waiter[];
  serving: boolean;
  /** A reading of the count that is on its way. */
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

/** The answer that memory can give; undefined when the store has to be asked. */
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

/** Keeps what an answer of the store says about the count. */
export function note(bucket: Bucket, grant: Grant, now: number) {
  bucket.used = grant.used;
  bucket.resetAt = now + grant.resetMs;
  bucket.countedUntil = now + grant.leftMs;
}

export function peeked(bucket: Bucket, grant: Grant, now: number): Admission {
  note(bucket, grant, now);
  return admission(bucket, now);
}

/** What a process may sit on, as a part of the limit: the larger the part, the fewer statements and the more idle units. */
const leasedPart = 16;
/** How much larger the next lease is when one was used up fast: few steps lead to the full size. */
const growth = 8;

/**
 * Leases grow while they are used up fast, in under 100 ms or half a sub-bucket, and halve otherwise. A sixteenth of the
 * limit is the most that a process may sit on; limits up to sixteen are counted one by one. A key used without pause so
 * needs at most 20 leases for each window and process; the price is that of every other process a sixteenth of the limit
 * may lie idle, until its sub-bucket ends.
 */
export function nextSize(bucket: Bucket, now: number): number {
  if (bucket.deadline === 0) return bucket.size;
  const fast = Math.max(100, subBucketMs(bucket.rate.windowMs) / 2);
  const size = now - bucket.leasedAt < fast ? bucket.size * growth : bucket.size >> 1;
  bucket.size = Math.min(Math.max(size, 1), Math.ceil(bucket.rate.limit / leasedPart));
  return bucket.size;
}
