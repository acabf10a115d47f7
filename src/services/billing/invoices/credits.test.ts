import { Big } from 'big.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sumOf } from '../money/money.ts';
import { type Charged, creditableLines, returnedBy } from './credits.ts';
import type { Line } from './lines.ts';
import type { Owed } from './owed.ts';
import { nameOf } from './settlement.ts';

const key = (planId: string) => ({ periodStart: 0, planId, revision: 1, featureKey: null });
const line = (amount: bigint, planId = 'pro'): Line => ({
  ...{ type: 'base', description: planId, quantity: new Big(1), unit: new Big(amount.toString()), flat: 0n },
  ...{ amount, period: { start: 0, end: 1 }, key: key(planId) },
});
const invoice = (amount: bigint, discount: bigint, tax: bigint, subtotal = amount): Charged => ({
  ...{ amount, subtotal },
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
});
const charged = (...invoices: Charged[]) => new Map([[nameOf(key('pro')), invoices]]);
const amounts = ({ discounts, taxes }: ReturnType<typeof returnedBy>) => [
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
      [invoice(100n, 200n, 40n, 400n)],
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
    expect(amounts(returnedBy(lines, charged(...invoices)))).toEqual(expected);
  });

  it('in any number of parts gives back what was paid, and no more', () => {
    const parts = fc.array(fc.bigInt({ min: 1n, max: 10n ** 6n }), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(parts, fc.nat(10_000), fc.nat(9_999), (credits, discountParts, taxParts) => {
        const all = sumOf(credits);
        const discount = (all * BigInt(discountParts)) / 10_000n;
        const tax = ((all - discount) * BigInt(taxParts)) / 10_000n;
        const invoices = [invoice(all, discount, tax)];
        for (const credit of credits) {
          const [taken, back] = amounts(returnedBy([line(-credit)], charged(...invoices)));
          invoices.push(invoice(-credit, taken!, back!));
        }
        expect(sumOf(invoices.flatMap(({ discounts }) => discounts.map(({ amount }) => amount)))).toBe(0n);
        expect(sumOf(invoices.flatMap(({ taxes }) => taxes.map(({ amount }) => amount)))).toBe(0n);
      }),
    );
  });

  it.each<[string, bigint, bigint, Charged[], bigint[]]>([
    ['of what was charged', -80n, 20n, [invoice(100n, 0n, 0n)], [-80n]],
    ['of what was written off', -80n, 20n, [], []],
    ['of what was written off in part', -80n, 20n, [invoice(70n, 0n, 0n)], [-50n]],
  ])('%s is a line: %d', (_, difference, owes, invoices, expected) => {
    const owed = [{ key: key('pro'), amount: owes } as Owed];
    const lines = creditableLines([line(difference), line(5n, 'max')], owed, charged(...invoices));
    expect(lines.map(({ amount }) => amount)).toEqual([...expected, 5n]);
  });
});
