const units: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1 };

/**
 * Returns the milliseconds of a duration such as `30s`, `1h30m` or `250ms`.
 * @throws TypeError naming the option when the text is no duration or is out of bounds
 */
export function milliseconds(text: string, name: string, [least, most]: readonly [number, number]): number {
  if (text !== '0' && !/^(\d+(\.\d+)?(h|ms|m|s))+$/.test(text))
    throw new TypeError(`${name}: must be a duration like 90s, 1h30m or 250ms`);
  let sum = 0;
  for (const [, amount, unit = ''] of text.matchAll(/(\d+(?:\.\d+)?)(h|ms|m|s)/g))
    sum += Number(amount) * (units[unit] ?? NaN);
  if (!(sum >= least && sum <= most))
    throw new TypeError(`${name}: must be from ${duration(least)} to ${duration(most)}`);
  return Math.round(sum);
}

/** The longest delay of a job and the longest delay between attempts, in milliseconds. */
export const [longestDelay, longestRepetition] = [8_760 * 3_600_000, 24 * 3_600_000];

/** Formats a duration. Rounds up, so that nothing happens too early. */
export function duration(ms: number): string {
  const whole = Math.ceil(ms);
  return whole % 1_000 === 0 ? `${whole / 1_000}s` : `${whole}ms`;
}
