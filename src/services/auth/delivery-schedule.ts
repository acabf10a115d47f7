const minute = 60;
const hour = 60 * minute;

/** Seconds to wait after the first failure, the second one, and so on; after the eighth nothing is tried any more. */
const delays = [5, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 10 * hour];

/** Tries of a delivery before it has failed. */
export const mostAttempts = delays.length + 1;

/** The longest that a receiver may ask for with `Retry-After`, in seconds. */
const longestRetryAfter = hour;

/**
 * Seconds until the next try after `attempts` failures, a tenth more or less so that receivers are not hit by all at once;
 * undefined when that was the last one.
 * @param chance from 0 to 1
 */
export function delayAfter(
  attempts: number,
  retryAfter: number | undefined,
  chance: number,
): number | undefined {
  const delay = delays[attempts - 1];
  if (delay === undefined) return undefined;
  const jittered = delay * (0.9 + 0.2 * chance);
  return Math.max(jittered, Math.min(retryAfter ?? 0, longestRetryAfter));
}
