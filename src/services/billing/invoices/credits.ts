import { Big } from 'big.js';
import { minorUnits, sumOf } from '../money/money.ts';
import type { AppliedDiscount } from './discounts.ts';
import type { Line } from './lines.ts';
import type { Owed } from './owed.ts';
import { nameOf } from './settlement.ts';
import type { AppliedTax } from './taxes.ts';

/** What a final invoice has charged for a group, and what it deducted and taxed as a whole. */
export interface Charged {
  /** The sum of the lines of the group, in minor units. */
  readonly amount: bigint;
  readonly subtotal: bigint;
  readonly discounts: readonly AppliedDiscount[];
  readonly taxes: readonly AppliedTax[];
}

/** By the names of their groups. Invoices that are voided have charged nothing. */
export type ChargedGroups = ReadonlyMap<string, readonly Charged[]>;

const chargedFor = (charged: ChargedGroups, { key }: Pick<Line, 'key'>): readonly Charged[] =>
  charged.get(nameOf(key)) ?? [];

/**
 * The lines of an invoice, in which none gives back more than was charged: charges that were written off with their invoice were settled,
 * but nobody has to pay them.
 */
export function creditableLines(
  lines: readonly Line[],
  owed: readonly Owed[],
  charged: ChargedGroups,
): Line[] {
  const owes = new Map(owed.map(({ key, amount }) => [nameOf(key), amount]));
  return lines.flatMap((line) => {
    if (line.amount >= 0n) return [line];
    const all = sumOf(chargedFor(charged, line).map(({ amount }) => amount));
    const credit = all - owes.get(nameOf(line.key))!;
    if (credit >= -line.amount) return [line];
    return credit > 0n ? [{ ...line, amount: -credit, unit: new Big((-credit).toString()) }] : [];
  });
}

/** What a credit takes back besides its lines, each amount below 0. */
export interface Returned {
  readonly discounts: readonly AppliedDiscount[];
  readonly taxes: readonly AppliedTax[];
}

/**
 * What the charges that an invoice gives back were discounted and taxed by, in proportion. A credit at other discounts or rates than the
 * charge would pay out what was never paid. An invoice that gives nothing back as a whole returns nothing.
 */
export function returnedBy(lines: readonly Line[], charged: ChargedGroups): Returned {
  const subtotal = sumOf(lines.map(({ amount }) => amount));
  if (subtotal >= 0n) return { discounts: [], taxes: [] };
  const credits = lines.filter(({ amount }) => amount < 0n);
  // Charges beside the credits are set off against all of them alike.
  const gross = sumOf(credits.map(({ amount }) => amount));
  const discounts = new Sums<AppliedDiscount>(({ couponId }) => couponId);
  const taxes = new Sums<AppliedTax>(({ taxRateId }) => taxRateId);
  for (const line of credits) {
    const invoices = chargedFor(charged, line);
    const all = sumOf(invoices.map(({ amount }) => amount));
    if (all <= 0n) continue;
    for (const invoice of invoices) {
      if (invoice.subtotal === 0n) continue;
      const share = ratio([invoice.amount, -line.amount, subtotal], [invoice.subtotal, all, gross]);
      for (const one of invoice.discounts) discounts.add(one, share);
      for (const one of invoice.taxes) taxes.add(one, share);
    }
  }
  let left = -subtotal;
  return {
    discounts: discounts.all().flatMap(([discount, amountOf]) => {
      const back = amountOf(({ amount }) => amount);
      const amount = back < left ? back : left;
      left -= amount;
      return amount > 0n ? [{ ...discount, amount: -amount }] : [];
    }),
    taxes: taxes.all().flatMap(([tax, amountOf]) => {
      const [taxableAmount, amount] = [amountOf((one) => one.taxableAmount), amountOf((one) => one.amount)];
      return amount > 0n ? [{ ...tax, taxableAmount: -taxableAmount, amount: -amount }] : [];
    }),
  };
}

/** The quotient of two products. */
const ratio = (dividends: readonly bigint[], divisors: readonly bigint[]): Big =>
  product(dividends).div(product(divisors));

const product = (factors: readonly bigint[]): Big =>
  new Big(factors.reduce((all, factor) => all * factor, 1n).toString());

/** Parts of discounts or taxes, added up for each coupon or rate and rounded once. */
class Sums<One> {
  readonly #parts = new Map<string, { readonly one: One; readonly share: Big }[]>();
  readonly #keyOf: (one: One) => string;

  constructor(keyOf: (one: One) => string) {
    this.#keyOf = keyOf;
  }

  add(one: One, share: Big): void {
    const key = this.#keyOf(one);
    const parts = this.#parts.get(key);
    if (parts === undefined) this.#parts.set(key, [{ one, share }]);
    else parts.push({ one, share });
  }

  all(): [One, (of: (one: One) => bigint) => bigint][] {
    return [...this.#parts.values()].map((parts) => [
      parts[0]!.one,
      (of) =>
        minorUnits(
          parts.reduce((sum, { one, share }) => sum.plus(share.times(of(one).toString())), new Big(0)),
        ),
    ]);
  }
}
