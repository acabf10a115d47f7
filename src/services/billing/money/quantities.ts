import { Big } from 'big.js';

/** Numbers of JSON with this many significant digits survive the way through a double. */
const mostDigits = 15;
const mostDecimals = 12;

/** Why a sent number is not a quantity, or undefined if it is. */
export function quantityFault(sent: number): string | undefined {
  const { c: digits, e: exponent } = new Big(sent);
  if (digits.length > mostDigits) return `more than ${mostDigits} significant digits`;
  if (digits.length - 1 - exponent > mostDecimals) return `more than ${mostDecimals} decimals`;
  return undefined;
}

/** The exact value of a sent number, which has no quantity fault. */
export const quantityOf = (sent: number): Big => new Big(sent === 0 ? 0 : sent);

/** A quantity as JSON shows it: the nearest number, and beyond the safe integers the last of them. */
export function shownQuantity(exact: Big): number {
  if (exact.gt(Number.MAX_SAFE_INTEGER)) return Number.MAX_SAFE_INTEGER;
  if (exact.lt(Number.MIN_SAFE_INTEGER)) return Number.MIN_SAFE_INTEGER;
  return Number(exact.toFixed());
}
