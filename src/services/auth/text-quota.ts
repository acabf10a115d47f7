/** Text messages to one number, over all that they are for: each costs money, and each code gives five more guesses. */
const quotas = [
  { most: 3, seconds: 600 },
  { most: 10, seconds: 86_400 },
] as const;

/** How long it is remembered that a number was written to. */
export const longestQuotaSeconds = 86_400;

/** Seconds until another text may go to a number; `ages` are those of the texts to it, in seconds. */
export function secondsToText(ages: readonly number[]): number {
  const newestFirst = ages.toSorted((one, other) => one - other);
  const waits = quotas.map(({ most, seconds }) => {
    const decisive = newestFirst[most - 1];
    return decisive === undefined ? 0 : seconds - decisive;
  });
  return Math.max(0, Math.ceil(Math.max(...waits)));
}
