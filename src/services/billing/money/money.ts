import { Big } from 'big.js';
import type { Money } from '../../../../generated/billing/types.ts';
import { currencies, currencyFacts } from './currencies.ts';
import { roundedQuotient } from './rounding.ts';

/** The largest amount of minor units, of either sign, that JSON numbers represent exactly. */
export const mostMinorUnits = BigInt(Number.MAX_SAFE_INTEGER);

/** Whether it is the code of a currency of ISO 4217, in lower case. */
export const isCurrency = (code: string): boolean => currencies.has(code);

/** An amount of minor units as text for readers of English: `-$1,234.50`. */
export const moneyText = (amount: bigint, currency: string): string =>
  exactMoneyText(amount.toString(), currency);

/** The same of an exact amount of minor units, with all its decimals: half a cent is `$0.005`. */
export function exactMoneyText(exact: string, currency: string): string {
  const { digits, label } = currencyFacts(currency);
  const [minor = '', more = ''] = exact.replace('-', '').split('.');
  const text = minor.padStart(digits + 1, '0');
  const whole = text.slice(0, text.length - digits).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
  const decimals = text.slice(text.length - digits) + more;
  return `${exact.startsWith('-') ? '-' : ''}${label}${whole}${decimals === '' ? '' : `.${decimals}`}`;
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
