import { Big } from 'big.js';
import type { Money } from '../../../../generated/billing/types.ts';
import { roundedQuotient } from './rounding.ts';

/** The largest amount of minor units, of either sign, that JSON numbers represent exactly. */
export const mostMinorUnits = BigInt(Number.MAX_SAFE_INTEGER);

const formats = new Map<string, Intl.NumberFormat>();

function formatOf(currency: string): Intl.NumberFormat {
  let format = formats.get(currency);
  if (format === undefined) {
    format = new Intl.NumberFormat('en-US', { style: 'currency', currency });
    formats.set(currency, format);
  }
  return format;
}

const known = new Set(Intl.supportedValuesOf('currency').map((code) => code.toLowerCase()));

/** Whether it is the code of a currency of ISO 4217, in lower case. */
export const isCurrency = (code: string): boolean => known.has(code);

/** How many decimals the major unit of a currency has: 2 for usd, 0 for jpy, 3 for kwd. */
export const minorDigits = (currency: string): number =>
  formatOf(currency).resolvedOptions().maximumFractionDigits ?? 2;

/** An amount of minor units as text for readers of English: `-$1,234.50`. */
export function moneyText(amount: bigint, currency: string): string {
  const digits = minorDigits(currency);
  const text = (amount < 0n ? -amount : amount).toString().padStart(digits + 1, '0');
  const whole = text.slice(0, text.length - digits);
  const decimal = digits === 0 ? whole : `${whole}.${text.slice(-digits)}`;
  const signed = amount < 0n ? `-${decimal}` : decimal;
  // A string is formatted exactly, whereas a number of this size could lose its last digits.
  return formatOf(currency)
    .format(signed as Intl.StringNumericLiteral)
    .replaceAll('\u00a0', ' ');
}

/** An exact amount in minor units, rounded to whole ones. */
export function minorUnits(exact: Big): bigint {
  const [whole = '0', decimals = ''] = exact.toFixed().split('.');
  return roundedQuotient(BigInt(whole + decimals), 10n ** BigInt(decimals.length));
}

/** Whether JSON represents this amount exactly. */
export const isExpressible = (amount: bigint): boolean =>
  amount <= mostMinorUnits && amount >= -mostMinorUnits;

/** An amount as responses show it. */
export function moneyOf(amount: bigint, currency: string): Money {
  if (!isExpressible(amount)) throw new RangeError('an amount of money beyond what JSON represents exactly');
  return { amount: Number(amount), currency, display: moneyText(amount, currency) };
}

/** The sum of amounts. */
export const sumOf = (amounts: Iterable<bigint>): bigint => {
  let sum = 0n;
  for (const amount of amounts) sum += amount;
  return sum;
};

/** A percentage of an amount, rounded once: 19 % of 5000 is 950, and of -50 it is -10. */
export const percentOf = (amount: bigint, percent: string): bigint =>
  minorUnits(new Big(amount.toString()).times(percent).times('0.01'));
