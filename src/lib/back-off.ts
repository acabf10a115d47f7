/**
 * Returns how long to wait until the next try, or undefined when there is none. The wait varies by up to a tenth in either
 * direction, so that what failed together is not tried again together.
 * @param delays the wait after the first failure, after the second one, and so on, in any unit of time; after one failure more
 * than there are delays there is no further try
 * @param failures the number of failures so far, from 1
 * @param chance a random number from 0 to 1
 */
export function nextDelay(delays: readonly number[], failures: number, chance: number): number | undefined {
  const delay = delays[failures - 1];
  return delay === undefined ? undefined : delay * (0.9 + 0.2 * chance);
}
