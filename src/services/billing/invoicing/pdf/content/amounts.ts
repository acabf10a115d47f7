import { Big } from 'big.js';
import type { Money } from '../../../../../../generated/billing/types.ts';
import { minorDigits, moneyText } from '../../../money/money.ts';

/** The contract allows this many decimals of a minor unit, and as many of a quantity. */
const mostDecimals = 12;

const quantities = new Intl.NumberFormat('en-US', { maximumFractionDigits: mostDecimals });

/** An exact quantity for readers of English: `10,000.5`. */
export const quantityText = (exact: string): string => quantities.format(exact as Intl.StringNumericLiteral);

/** A unit price with all its decimals: half a cent is `$0.005`, so that a reader can multiply it. */
export function priceText(rounded: Money, exact: string): string {
  if (!exact.includes('.')) return rounded.display;
  const digits = minorDigits(rounded.currency);
  const major = new Big(exact).times(`1e-${digits}`).toFixed();
  return new Intl.NumberFormat('en-US', {
    style: 'currency',
    currency: rounded.currency,
    minimumFractionDigits: digits,
    maximumFractionDigits: digits + mostDecimals,
  })
    .format(major as Intl.StringNumericLiteral)
    .replaceAll('\u00a0', ' ');
}

/** An amount with the opposite sign, for what is deducted. */
export const deducted = ({ amount, currency }: Money): string => moneyText(-BigInt(amount), currency);

/** The difference of two amounts of one currency. */
export const difference = (from: Money, less: Money): bigint => BigInt(from.amount) - BigInt(less.amount);
