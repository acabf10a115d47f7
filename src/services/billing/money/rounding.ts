/**
 * The one place where billing rounds: half away from zero, to whole minor units, so that a credit is the exact opposite of the charge
 * that it takes back.
 *
 * @param divisor greater than 0
 */
export function roundedQuotient(dividend: bigint, divisor: bigint): bigint {
  const [magnitude, sign] = dividend < 0n ? [-dividend, -1n] : [dividend, 1n];
  return sign * ((2n * magnitude + divisor) / (2n * divisor));
}
