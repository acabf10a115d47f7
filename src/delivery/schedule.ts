import { nextDelay } from '../lib/back-off.ts';

const minute = 60;
const hour = 60 * minute;

/** When a failed delivery is tried again. */
export interface Schedule {
  /** Seconds to wait after the first failure, the second one, and so on. After one more failure there are no more attempts. */
  readonly delays: readonly number[];
  /** The longest `Retry-After` of a receiver that is honoured, in seconds. */
  readonly longestRetryAfter: number;
}

/** Eight attempts within about 28 hours. */
export const usualSchedule: Schedule = {
  delays: [5, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 10 * hour],
  longestRetryAfter: hour,
};

/**
 * Seconds until the next attempt after this many failures; undefined after the last one.
 * @param retryAfter the seconds that the receiver asks to wait, if it asks for any
 * @param chance from 0 to 1
 */
export function delayAfter(
  { delays, longestRetryAfter }: Schedule,
  failures: number,
  retryAfter: number | undefined,
  chance: number,
): number | undefined {
  const delay = nextDelay(delays, failures, chance);
  return delay === undefined ? undefined : Math.max(delay, Math.min(retryAfter ?? 0, longestRetryAfter));
}
