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
  /** Whether there are new jobs, which may be more urgent than those that wait, or of other tenants. */
  readonly hinted: boolean;
}

/** The most jobs that wait in a process for a slot. */
export const mostWaiting = 1_000;

/** The most jobs that are claimed for a hint although enough wait. */
const perHint = 8;

/** How far ahead jobs are claimed, in seconds: longer than a claim, so that fast jobs never wait for one. */
const ahead = 0.05;

/**
 * How many jobs to claim now. Beyond the free slots only what the current rate finishes at once is claimed, so slow jobs are left to
 * other processes. A claim that would only top up what waits is left out until half of it is used, unless a hint asks for it.
 */
export function claimSize({ free, waiting, perSecond, limited, hinted }: Demand): number {
  if (limited) return Math.max(0, free - waiting);
  const spare = Math.min(mostWaiting, Math.floor(perSecond * ahead));
  const wanted = free + spare - waiting;
  const most = Math.max(free, Math.ceil((free + spare) / 2));
  if (wanted > 0 && (free > waiting || waiting <= most)) return Math.min(wanted, most);
  return hinted && waiting <= 2 * (free + spare) ? Math.min(perHint, spare) : 0;
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
