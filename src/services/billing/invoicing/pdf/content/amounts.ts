import type { Money } from '../../../../../../generated/billing/types.ts';
import { exactMoneyText, moneyText } from '../../../money/money.ts';

/** The contract allows this many decimals of a quantity. */
const mostDecimals = 12;

const quantities = new Intl.NumberFormat('en-US', { maximumFractionDigits: mostDecimals });

/** An exact quantity for readers of English: `10,000.5`. */
export const quantityText = (exact: string): string => quantities.format(exact as Intl.StringNumericLiteral);

/** A unit price with all its decimals, so that a reader can multiply it. */
export const priceText = (rounded: Money, exact: string): string =>
  exact.includes('.') ? exactMoneyText(exact, rounded.currency) : rounded.display;

/** An amount with the opposite sign, for what is deducted. */
export const deducted = ({ amount, currency }: Money): string => moneyText(-BigInt(amount), currency);

/** The difference of two amounts of one currency. */
export const difference = (from: Money, less: Money): bigint => BigInt(from.amount) - BigInt(less.amount);
