/** What decides how many jobs a process claims for a queue. */
export interface Demand {
  /** Slots without a job. */
  readonly free: number;
  /** Jobs that are claimed and wait for a slot. */
  readonly waiting: number;
  /** Jobs that ended in the last second. */
  readonly perSecond: number;
  /** Whether the queue has limits; then every claimed job counts as running and must start at once. */
  readonly limited: boolean;
}

/** The most jobs that wait in a process for a slot. */
export const mostWaiting = 1_000;

/** How far ahead jobs are claimed, in seconds: longer than a round trip, so that fast jobs never wait for one. */
const ahead = 0.1;

/**
 * How many jobs to claim now. Beyond the free slots only what the current rate finishes at once is claimed, so slow jobs are left to
 * other processes. A claim that would only top up what waits is left out until half of it is used.
 */
export function claimSize({ free, waiting, perSecond, limited }: Demand): number {
  if (limited) return Math.max(0, free - waiting);
  const spare = Math.min(mostWaiting, Math.floor(perSecond * ahead));
  const wanted = free + spare - waiting;
  return wanted > 0 && (free > waiting || waiting <= spare / 2) ? Math.min(wanted, mostWaiting) : 0;
}

/** Counts how many jobs end in a second. */
export interface EndRate {
  readonly note: () => void;
  readonly perSecond: () => number;
}

/** The shortest time from which a rate is told, in milliseconds. */
const shortestMs = 100;

/** @param now a monotonic clock, in milliseconds */
export function endRate(now: () => number): EndRate {
  let began = now();
  let count = 0;
  let last = 0;
  return {
    note: () => void count++,
    perSecond() {
      const passed = now() - began;
      const current = (count * 1_000) / Math.max(passed, shortestMs);
      if (passed < 1_000) return Math.max(last, current);
      last = current;
      began = now();
      count = 0;
      return last;
    },
  };
}
