import type { BillingAddress, TaxRate, TaxStatus } from '../../../../generated/billing/types.ts';
import { isExpressible, sumOf } from '../money/money.ts';
import type { Returned } from './credits.ts';
import {
  discountsOf,
  summedByCoupon,
  type AppliedDiscount,
  type BilledAmount,
  type PeriodDiscount,
  type RedeemedCoupon,
} from './discounts.ts';
import { taxesOf, taxRateFor, type AppliedTax } from './taxes.ts';

/** As the contract bounds the lines of an invoice. */
const mostLines = 2_000;

/** Who is billed: null when the tenant has no customer with the currency of the plan. */
export type Payer = {
  readonly address: Pick<BillingAddress, 'country' | 'state'> | null;
  /** Minor units, never above 0: a negative balance is credit. */
  readonly balance: bigint;
} | null;

/** What follows from the lines of an invoice, in minor units. */
export interface Figures {
  readonly subtotal: bigint;
  readonly discounts: readonly AppliedDiscount[];
  /** The same by billing period, except for discounts that are taken back. */
  readonly periodDiscounts: readonly PeriodDiscount[];
  readonly discountAmount: bigint;
  readonly taxes: readonly AppliedTax[];
  readonly taxAmount: bigint;
  readonly taxStatus: TaxStatus;
  /** `subtotal − discountAmount + taxAmount`. */
  readonly total: bigint;
  /** The part of the total that the payer's credit pays. */
  readonly creditApplied: bigint;
  /** What remains to be paid, never below 0. */
  readonly amountDue: bigint;
  /** What the payer's balance changes by once the invoice is final: credit that is used up, or credit from a negative total. */
  readonly balanceChange: bigint;
}

/** What the figures of an invoice depend on besides its lines. */
export interface InvoiceTerms {
  /** What the lines take back of earlier invoices; counts where they give back more than they charge. */
  readonly returned: Returned;
  readonly coupons: readonly RedeemedCoupon[];
  readonly taxRates: readonly Pick<TaxRate, 'id' | 'country' | 'state' | 'name' | 'rate'>[];
  readonly payer: Payer;
}

/**
 * Discounts come before taxes, so that the tax is on what is really paid; credit comes last, since it was taxed when it arose. Charges that
 * are given back take their own discounts and taxes with them, whatever coupons and rates there are now.
 */
export function figuresOf(
  amounts: readonly BilledAmount[],
  { coupons, taxRates, payer, returned }: InvoiceTerms,
): Figures {
  const subtotal = sumOf(amounts.map(({ amount }) => amount));
  const isCredit = subtotal < 0n;
  const periodDiscounts = isCredit ? [] : discountsOf(amounts, coupons);
  const discounts = isCredit ? returned.discounts : summedByCoupon(periodDiscounts);
  const discountAmount = sumOf(discounts.map(({ amount }) => amount));
  const taxes = isCredit
    ? returned.taxes
    : taxesOf(subtotal - discountAmount, taxRateFor(taxRates, payer?.address ?? null));
  const taxAmount = sumOf(taxes.map(({ amount }) => amount));
  const total = subtotal - discountAmount + taxAmount;
  const payable = total > 0n ? total : 0n;
  const credit = payer === null ? 0n : -payer.balance;
  const creditApplied = credit < payable ? credit : payable;
  return {
    subtotal,
    discounts,
    periodDiscounts,
    discountAmount,
    taxes,
    taxAmount,
    taxStatus: !isCredit && isAddressMissing({ taxRates, payer }) ? 'incomplete_address' : 'complete',
    total,
    creditApplied,
    amountDue: payable - creditApplied,
    balanceChange: total < 0n ? total : creditApplied,
  };
}

/** Whether taxes depend on a country that the payer does not have. */
const isAddressMissing = ({ taxRates, payer }: Pick<InvoiceTerms, 'taxRates' | 'payer'>): boolean =>
  taxRates.length > 0 && (payer?.address?.country ?? null) === null;

/** Whether an amount is beyond what JSON represents exactly. */
export const hasInexpressibleAmount = (
  amounts: readonly bigint[],
  { subtotal, discountAmount, taxAmount, total }: Figures,
): boolean => ![...amounts, subtotal, discountAmount, taxAmount, total].every(isExpressible);

/** Why an invoice cannot become final whatever its taxes are, or undefined if it can. */
export function incompleteness(
  amounts: readonly bigint[],
  figures: Figures,
  { payer }: Pick<InvoiceTerms, 'payer'>,
): string | undefined {
  if (amounts.length === 0) return 'invoice has nothing to bill';
  if (amounts.length > mostLines) return `invoice has more than ${mostLines} lines`;
  const { total } = figures;
  if (hasInexpressibleAmount(amounts, figures)) return 'invoice has an amount that is too large';
  if (total < 0n && payer === null) return 'invoice has a credit and no customer to give it to';
  return undefined;
}
