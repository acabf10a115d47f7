const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** Milliseconds from a failed attempt to the next one: after the first, after the second, and so on. The last one holds from then on. */
const delaysMs = [
  5 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour,
];

/**
 * Milliseconds until the next attempt, a fifth more or less, so that what failed together is not attempted together.
 * @param failures the number of failed attempts, from 1
 * @param chance a random number from 0 to 1
 */
export const delayAfter = (failures: number, chance: number): number =>
  delaysMs[Math.min(failures, delaysMs.length) - 1]! * (0.8 + 0.4 * chance);
