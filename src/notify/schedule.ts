import { nextDelay } from '../lib/back-off.ts';

/** Seconds to wait after the first failure of a message, the second one, and so on: tripled up to an hour. */
const delays = [1, 3, 9, 27, 81, 243, 729, 2_187, 3_600];

/** Seconds until the next attempt after this many failures; undefined after the last one. @param chance from 0 to 1 */
export const delayAfter = (failures: number, chance: number): number | undefined =>
  nextDelay(delays, failures, chance);
