/** Tries of a message, the first included. */
export const mostTries = 10;

const hour = 3_600;

/** Seconds until the next try, three times longer after each failure and an hour at most; undefined where it was the last. */
export function delayAfterFailures(failures: number, random: number): number | undefined {
  if (failures >= mostTries) return undefined;
  const spread = 0.9 + 0.2 * random;
  return Math.min(3 ** (failures - 1), hour) * spread;
}
