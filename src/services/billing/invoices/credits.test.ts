import { Big } from 'big.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sumOf } from '../money/money.ts';
import { type Charged, type ChargedInvoice, creditsOf, type Return, type Returned } from './credits.ts';
import type { Line } from './lines.ts';
import type { Owed } from './owed.ts';
import { nameOf } from './settlement.ts';

const key = (planId: string) => ({ periodStart: 0, planId, revision: 1, featureKey: null });
const line = (amount: bigint, planId = 'pro'): Line => ({
  ...{ type: 'base', description: planId, quantity: new Big(1), unit: new Big(amount.toString()), flat: 0n },
  ...{ amount, period: { start: 0, end: 1 }, key: key(planId) },
});
const key0 = nameOf(key('pro'));
/** An invoice, what it charges for the group, and what the group owes. */
const invoice = (
  amount: bigint,
  discount: bigint,
  tax: bigint,
  more: Partial<ChargedInvoice> = {},
): Charged => {
  const subtotal = more.subtotal ?? amount;
  return {
    amount,
    invoice: {
      ...{ id: `inv_${amount}`, subtotal, total: subtotal - discount + tax },
      discounts: discount === 0n ? [] : [{ couponId: 'cpn_1', code: 'HALF', amount: discount }],
      taxes:
        tax === 0n
          ? []
          : [
              {
                ...{ taxRateId: 'txr_1', name: 'VAT', rate: '19' },
                ...{ taxableAmount: subtotal - discount, amount: tax },
              },
            ],
      ...{ refunded: 0n, isMixed: false, returns: [] },
      ...more,
    },
  };
};
const charged = (...invoices: Charged[]) => new Map([[key0, invoices]]);
const amounts = ({ discounts, taxes }: Returned) => [
  sumOf(discounts.map(({ amount }) => amount)),
  sumOf(taxes.map(({ amount }) => amount)),
];

describe('a credit', () => {
  it.each<[string, Line[], Charged[], bigint[]]>([
    [
      'of all takes all of its discount and its tax back',
      [line(-100n)],
      [invoice(100n, 50n, 10n)],
      [-50n, -10n],
    ],
    ['of a part takes their part back', [line(-40n)], [invoice(100n, 50n, 10n)], [-20n, -4n]],
    [
      'of what was neither discounted nor taxed takes nothing',
      [line(-100n)],
      [invoice(100n, 0n, 0n)],
      [0n, 0n],
    ],
    [
      'takes the part of its line where the invoice had others',
      [line(-100n)],
      [invoice(100n, 200n, 40n, { subtotal: 400n })],
      [-50n, -10n],
    ],
    [
      'after another one takes what is left',
      [line(-60n)],
      [invoice(100n, 50n, 10n), invoice(-40n, -20n, -4n)],
      [-30n, -6n],
    ],
    [
      'beside a charge takes what the difference had',
      [line(-100n), line(50n, 'max')],
      [invoice(100n, 50n, 10n)],
      [-25n, -5n],
    ],
    [
      'that a charge outweighs takes nothing',
      [line(-100n), line(150n, 'max')],
      [invoice(100n, 50n, 10n)],
      [0n, 0n],
    ],
    ['of what no invoice has charged takes nothing', [line(-100n)], [], [0n, 0n]],
  ])('%s', (_, lines, invoices, expected) => {
    expect(amounts(creditsOf(lines, [], charged(...invoices)).returned)).toEqual(expected);
  });

  it('of any number of lines and parts gives back what was paid, and no more', () => {
    const parts = fc.array(fc.bigInt({ min: 1n, max: 10n ** 6n }), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(parts, fc.nat(10_000), fc.nat(9_999), (lines, discountParts, taxParts) => {
        const subtotal = sumOf(lines);
        const discount = (subtotal * BigInt(discountParts)) / 10_000n;
        const tax = ((subtotal - discount) * BigInt(taxParts)) / 10_000n;
        const returns: Return[] = [];
        const one = (amount: bigint) => invoice(amount, discount, tax, { id: 'inv_1', subtotal, returns });
        let back = 0n;
        for (const [index, amount] of lines.entries()) {
          const plan = `plan-${index}`;
          const groups = new Map([[nameOf(key(plan)), [one(amount)]]]);
          const credit = creditsOf([line(-amount, plan)], [], groups);
          returns.push(...credit.returns);
          const [taken, taxed] = amounts(credit.returned);
          back += amount + taken! - taxed!;
          expect(credit.returns.map(({ total }) => total)).toEqual([amount + taken! - taxed!]);
        }
        expect(back).toBe(subtotal - discount + tax);
      }),
    );
  });

  it.each<[string, bigint, bigint, bigint, bigint[], bigint]>([
    ['that was refunded gives nothing', 100n, -90n, 10n, [], 0n],
    ['that was refunded in part gives the rest', 50n, -90n, 10n, [-40n], 50n],
    ['of less than was refunded gives nothing', 50n, -30n, 70n, [], 0n],
  ])('of a charge %s', (_, refunded, difference, owes, expected, withheld) => {
    const owed = [{ key: key('pro'), amount: owes } as Owed];
    const { lines, returns } = creditsOf(
      [line(difference)],
      owed,
      charged(invoice(100n, 0n, 0n, { refunded })),
    );
    expect(lines.map(({ amount }) => amount)).toEqual(expected);
    expect(sumOf(returns.map((one) => one.withheld))).toBe(withheld);
  });

  it('beside another one of an invoice that was refunded in part is cut once', () => {
    const one = (amount: bigint) => invoice(amount, 0n, 0n, { id: 'inv_1', subtotal: 150n, refunded: 50n });
    const groups = new Map([
      [key0, [one(100n)]],
      [nameOf(key('max')), [one(50n)]],
    ]);
    const { lines, returns } = creditsOf([line(-90n), line(-30n, 'max')], [], groups);
    expect(lines.map(({ amount }) => amount)).toEqual([-40n, -30n]);
    expect(returns).toMatchObject([{ amount: 70n, withheld: 50n, total: 70n }]);
  });

  it.each<[string, bigint, bigint, Charged[], bigint[]]>([
    ['of what was charged', -80n, 20n, [invoice(100n, 0n, 0n)], [-80n]],
    ['of what was written off', -80n, 20n, [], []],
    ['of what was written off in part', -80n, 20n, [invoice(70n, 0n, 0n)], [-50n]],
  ])('%s is a line: %d', (_, difference, owes, invoices, expected) => {
    const owed = [{ key: key('pro'), amount: owes } as Owed];
    const { lines } = creditsOf([line(difference), line(5n, 'max')], owed, charged(...invoices));
    expect(lines.map(({ amount }) => amount)).toEqual([...expected, 5n]);
  });
});
