import { Big } from 'big.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chargesOf, priceOf, type Tier } from './rating.ts';

const tier = (type: Tier['type'], up_to: number, unit: string, flat = 0): Tier => ({
  type,
  up_to,
  unit_amount_decimal: unit,
  flat_amount: { amount: flat },
});

const priced = (tiers: readonly Tier[], quantity: Big.BigSource) =>
  chargesOf(tiers, new Big(quantity)).map(({ amount }) => Number(amount));

const calls = (type: Tier['type']) => [
  tier(type, 10_000, '0'),
  tier(type, 100_000, '0.5'),
  tier(type, -1, '0.2'),
];
const seats = (type: Tier['type']) => [tier(type, 10, '100', 500), tier(type, -1, '80', 200)];

describe('the charges of a quantity', () => {
  it.each([
    ['calls', calls('graduated'), 125_430, [0, 45_000, 5_086]],
    ['calls', calls('volume'), 10_001, [5_001]],
    ['calls', calls('volume'), 100_000, [50_000]],
    ['calls', calls('volume'), 125_430, [25_086]],
    ['seats', seats('graduated'), 0, []],
    ['seats', seats('graduated'), -3, []],
    ['seats', seats('graduated'), 1, [600]],
    ['seats', seats('graduated'), 10, [1_500]],
    ['seats', seats('graduated'), 11, [1_500, 280]],
    ['seats', seats('graduated'), 25, [1_500, 1_400]],
    ['seats', seats('volume'), 10, [1_500]],
    ['seats', seats('volume'), 11, [1_080]],
    ['seats', seats('volume'), 25, [2_200]],
    ['a tenth of a cent', [tier('graduated', -1, '0.1')], 5, [1]],
    ['a tenth of a cent', [tier('graduated', -1, '0.1')], 15, [2]],
    ['flat', [tier('flat', 10, '0', 900), tier('flat', -1, '0', 1_900)], 10, [900]],
    ['flat', [tier('flat', 10, '0', 900), tier('flat', -1, '0', 1_900)], '10.001', [1_900]],
    ['part of a unit', [tier('graduated', 1, '300'), tier('graduated', -1, '100')], '1.5', [300, 50]],
    ['no tiers', [], 10, []],
  ])('of %s: %j at %s is %j', (_, tiers, quantity, amounts) => {
    expect(priced(tiers, quantity)).toEqual(amounts);
  });

  it('loses no digit of twelve decimals at a trillion units', () => {
    expect(priced([tier('graduated', -1, '0.000000000001')], '1000000000000')).toEqual([1]);
    expect(priced([tier('graduated', -1, '999999999999.000000000001')], '1000')).toEqual([
      999_999_999_999_000,
    ]);
  });

  it('say which units of the feature each line is for', () => {
    const lines = chargesOf(calls('graduated'), new Big(10_200));
    expect(lines.map(({ after, quantity }) => [after.toNumber(), quantity.toNumber()])).toEqual([
      [0, 10_000],
      [10_000, 200],
    ]);
  });
});

describe('graduated prices, for any tiers', () => {
  const prices = fc.tuple(
    fc.integer({ min: 1, max: 40 }),
    fc.integer({ min: 0, max: 1_000_000 }),
    fc.nat(500),
  );
  const tiersOf = (parts: readonly (readonly [number, number, number])[]) => {
    let last = 0;
    return parts.map(([size, price, flat], at) => {
      last += size;
      const unit = new Big(price).div(10_000).toFixed();
      return tier('graduated', at === parts.length - 1 ? -1 : last, unit, flat);
    });
  };

  it('are those of adding unit after unit, within half a minor unit a line', () => {
    fc.assert(
      fc.property(fc.array(prices, { minLength: 1, maxLength: 5 }), fc.nat(150), (parts, units) => {
        const tiers = tiersOf(parts);
        const charges = chargesOf(tiers, new Big(units));
        const added = unitByUnit(tiers, units);
        const difference = new Big(priceOf(charges).toString()).minus(added).abs();
        expect(difference.lte(new Big(charges.length).div(2))).toBe(true);
      }),
    );
  });

  it('never fall when more is used', () => {
    fc.assert(
      fc.property(fc.array(prices, { minLength: 1, maxLength: 5 }), fc.nat(150), (parts, units) => {
        const tiers = tiersOf(parts);
        const [less, more] = [units, units + 1].map((count) => priceOf(chargesOf(tiers, new Big(count))));
        expect(more! >= less!).toBe(true);
      }),
    );
  });
});

/** The slow and obvious way: each unit looks for its tier, and each tier that has a unit adds its flat amount. */
function unitByUnit(tiers: readonly Tier[], units: number): Big {
  let sum = new Big(0);
  const entered = new Set<Tier>();
  for (let unit = 1; unit <= units; unit += 1) {
    const its = tiers.find(({ up_to }) => up_to === -1 || unit <= up_to)!;
    sum = sum.plus(its.unit_amount_decimal);
    if (!entered.has(its)) sum = sum.plus(its.flat_amount.amount);
    entered.add(its);
  }
  return sum;
}
