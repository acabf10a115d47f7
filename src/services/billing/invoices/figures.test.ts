import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mostMinorUnits } from '../money/money.ts';
import { isSpent } from '../coupons/grants.ts';
import { discountsOf, type RedeemedCoupon } from './discounts.ts';
import { figuresOf, incompleteness, type InvoiceTerms } from './figures.ts';
import { taxRateFor } from './taxes.ts';

const coupon = (value: RedeemedCoupon['value'], more: Partial<RedeemedCoupon> = {}): RedeemedCoupon => ({
  couponId: 'cpn_1',
  code: 'WELCOME',
  value,
  duration: 'once',
  periods: null,
  uses: [],
  ...more,
});
const rate = (country: string, state: string | null, percent: string) => ({
  id: `txr_${country}_${state}`,
  country,
  state,
  name: 'VAT',
  rate: percent,
});
const germany = { country: 'DE', state: null };
const period = { start: 0, end: 10 };
const billed = (amounts: readonly bigint[]) => amounts.map((amount) => ({ amount, period }));
const returned = { discounts: [], taxes: [] };
const none: InvoiceTerms = { coupons: [], taxRates: [], payer: null, returned };

describe('the figures of an invoice', () => {
  it.each<[string, bigint[], Partial<InvoiceTerms>, Partial<ReturnType<typeof figuresOf>>]>([
    ['nothing', [], {}, { subtotal: 0n, total: 0n, amountDue: 0n }],
    [
      'tax on what discounts leave',
      [4_900n, 100n],
      {
        coupons: [coupon({ percentage: '12.5' })],
        taxRates: [rate('DE', null, '19')],
        payer: { address: germany, balance: 0n },
      },
      { discountAmount: 625n, taxAmount: 831n, total: 5_206n, amountDue: 5_206n },
    ],
    [
      'percentages of the subtotal in order of redemption, never below 0',
      [1_000n],
      {
        coupons: [
          coupon({ percentage: '60' }),
          coupon({ amount: 300n }),
          coupon({ percentage: '60' }),
          coupon({ amount: 1n }),
        ],
      },
      { discountAmount: 1_000n, total: 0n },
    ],
    [
      'the discounts and taxes of the charges, not those of today, on a credit',
      [-50n],
      {
        coupons: [coupon({ percentage: '50' })],
        taxRates: [rate('DE', null, '19')],
        payer: { address: germany, balance: 0n },
        returned: {
          discounts: [{ couponId: 'cpn_2', code: 'PAST', amount: -20n }],
          taxes: [{ taxRateId: 'txr_2', name: 'VAT', rate: '7', taxableAmount: -30n, amount: -2n }],
        },
      },
      { discountAmount: -20n, taxAmount: -2n, total: -32n, amountDue: 0n, balanceChange: -32n },
    ],
    [
      'credit up to the total',
      [1_000n],
      { payer: { address: null, balance: -1_500n } },
      { creditApplied: 1_000n, amountDue: 0n, balanceChange: 1_000n },
    ],
    [
      'all of the credit',
      [1_000n],
      { payer: { address: null, balance: -400n } },
      { creditApplied: 400n, amountDue: 600n, balanceChange: 400n },
    ],
  ])('%s', (_, amounts, terms, figures) => {
    expect(figuresOf(billed(amounts), { ...none, ...terms })).toMatchObject(figures);
  });

  it('add up for any lines, coupons, taxes and credit', () => {
    const amounts = fc.array(fc.bigInt({ min: -(10n ** 12n), max: 10n ** 12n }), { maxLength: 20 });
    const values = fc.oneof(
      fc.integer({ min: 1, max: 1_000_000 }).map((parts) => ({ percentage: String(parts / 10_000) })),
      fc.bigInt({ min: 1n, max: 10n ** 12n }).map((amount) => ({ amount })),
    );
    const balances = fc.bigInt({ min: -(10n ** 12n), max: 0n });
    fc.assert(
      fc.property(
        amounts,
        fc.array(values, { maxLength: 10 }),
        fc.nat(999_999),
        balances,
        (lines, coupons, parts, balance) => {
          const taxRates = [rate('DE', null, String(parts / 10_000))];
          const payer = { address: germany, balance };
          const figures = figuresOf(billed(lines), {
            coupons: coupons.map((value) => coupon(value)),
            taxRates,
            payer,
            returned,
          });
          const { subtotal, discountAmount, taxAmount, total, creditApplied, amountDue, balanceChange } =
            figures;
          expect(subtotal - discountAmount + taxAmount).toBe(total);
          expect(
            discountAmount >= 0n && (subtotal <= 0n ? discountAmount === 0n : discountAmount <= subtotal),
          ).toBe(true);
          expect(
            total < 0n ? amountDue === 0n && creditApplied === 0n : amountDue + creditApplied === total,
          ).toBe(true);
          expect(creditApplied >= 0n && amountDue >= 0n).toBe(true);
          expect(balance + balanceChange <= 0n).toBe(true);
          expect(figures.discounts.every(({ amount }) => amount > 0n)).toBe(true);
        },
      ),
    );
  });
});

describe('a coupon', () => {
  const month = (index: number) => ({ start: index * 10, end: index * 10 + 10 });
  const use = (index: number, amount = 1n) => ({ period: month(index), amount });
  it.each([
    ['once', null, [false, true, true]],
    ['repeating', 2, [false, false, true]],
    ['forever', null, [false, false, false]],
  ] as const)('%s (%s) is spent after 0, 1 and 2 periods: %j', (duration, periods, spent) => {
    const after = (count: number) => Array.from({ length: count }, (_, index) => use(index));
    expect([0, 1, 2].map((count) => isSpent({ duration, periods, uses: after(count) }))).toEqual(spent);
  });

  it.each<[string, Partial<RedeemedCoupon>, [month: number, amount: bigint][], bigint[]]>([
    [
      'grants its amount in each period',
      { duration: 'forever' },
      [
        [0, 100n],
        [1, 50n],
      ],
      [20n, 20n],
    ],
    [
      'grants what is left of its period',
      { duration: 'forever', uses: [use(0, 15n)] },
      [
        [0, 100n],
        [1, 50n],
      ],
      [5n, 20n],
    ],
    ['of a used period grants nothing', { duration: 'forever', uses: [use(0, 20n)] }, [[0, 100n]], []],
    [
      'of one period grants the rest of it',
      { duration: 'once', uses: [use(0, 15n)] },
      [
        [0, 100n],
        [1, 50n],
      ],
      [5n],
    ],
    [
      'of one period takes the first',
      { duration: 'once' },
      [
        [1, 50n],
        [0, 100n],
      ],
      [20n],
    ],
    [
      'of two periods counts periods, not invoices',
      { duration: 'repeating', periods: 2, uses: [use(0, 5n), use(0, 5n)] },
      [
        [0, 100n],
        [1, 50n],
        [2, 50n],
      ],
      [10n, 20n],
    ],
    [
      'of a percentage, too',
      { duration: 'repeating', periods: 2, value: { percentage: '10' }, uses: [use(0)] },
      [
        [0, 100n],
        [1, 50n],
        [2, 50n],
      ],
      [10n, 5n],
    ],
    [
      'is not granted anew by a period that begins within one',
      { duration: 'forever', uses: [{ period: { start: -5, end: 5 }, amount: 20n }] },
      [[0, 100n]],
      [],
    ],
    [
      'deducts from what credits leave of a charge',
      { duration: 'forever', value: { percentage: '50' } },
      [
        [0, -90n],
        [1, 100n],
      ],
      [5n],
    ],
  ])('%s', (_, terms, amounts, expected) => {
    const charges = amounts.map(([index, amount]) => ({ amount, period: month(index) }));
    const discounts = discountsOf(charges, [coupon({ amount: 20n }, terms)]);
    expect(discounts.map(({ amount }) => amount)).toEqual(expected);
  });
});

describe('the tax rate', () => {
  const rates = [rate('US', null, '0'), rate('us', 'California', '7.25'), rate('DE', null, '19')];
  it.each([
    ['US', 'california', '7.25'],
    ['US', ' California ', '7.25'],
    ['US', 'Texas', '0'],
    ['us', null, '0'],
    ['DE', 'California', '19'],
    ['FR', null, undefined],
    [null, null, undefined],
  ])('of %s, %s is %s', (country, state, percent) => {
    expect(taxRateFor(rates, { country, state })?.rate).toBe(percent);
  });
});

describe('an invoice is incomplete', () => {
  const reason = (amounts: bigint[], terms: Partial<InvoiceTerms> = {}) =>
    incompleteness(amounts, figuresOf(billed(amounts), { ...none, ...terms }), { ...none, ...terms });
  it.each<[string | undefined, bigint[], Partial<InvoiceTerms>]>([
    [undefined, [0n], {}],
    ['invoice has nothing to bill', [], {}],
    ['invoice has more than 2000 lines', Array<bigint>(2_001).fill(1n), {}],
    ['invoice has an amount that is too large', [mostMinorUnits, 1n], {}],
    ['invoice has an amount that is too large', [mostMinorUnits + 1n, -mostMinorUnits], {}],
    ['invoice has a credit and no customer to give it to', [-1n], {}],
    [undefined, [-1n], { payer: { address: null, balance: 0n } }],
  ])('%s', (text, amounts, terms) => {
    expect(reason(amounts, terms)).toBe(text);
  });

  const payer = (country: string | null) => ({ address: { country, state: null }, balance: 0n });
  it.each<[string, bigint, Partial<InvoiceTerms>]>([
    ['incomplete_address', 1n, { taxRates: [rate('DE', null, '19')] }],
    ['incomplete_address', 1n, { taxRates: [rate('DE', null, '19')], payer: payer(null) }],
    ['complete', 1n, { taxRates: [rate('DE', null, '19')], payer: payer('FR') }],
    ['complete', -1n, { taxRates: [rate('DE', null, '19')], payer: payer(null) }],
    ['complete', 1n, { payer: payer(null) }],
  ])('in its taxes: %s, of %d', (status, amount, terms) => {
    expect(figuresOf(billed([amount]), { ...none, ...terms }).taxStatus).toBe(status);
  });
});
