import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chargeFault, collectable, firstCharge, priceFault } from '../money/charge-limits.ts';
import { currencies } from '../money/currencies.ts';
import { cardLimits, cardUnits, minorUnitsOf } from './card-units.ts';

describe('an amount in the units of the card provider', () => {
  it.each([
    [4_900n, 'usd', 4_900],
    [490_000n, 'huf', 490_000],
    [490_000n, 'twd', 490_000],
    [490_000n, 'idr', 490_000],
    [4_900n, 'jpy', 4_900],
    [4_900n, 'isk', 490_000],
    [4_900n, 'ugx', 490_000],
    [490_000n, 'mga', 4_900],
    [1_230n, 'kwd', 1_230],
    [20_000n, 'clf', 200],
  ])('%s of %s is %s, and back', (amount, currency, units) => {
    expect(cardUnits(amount, currency)).toBe(units);
    expect(minorUnitsOf(BigInt(units), currency)).toBe(amount);
  });

  it.each([
    [1_234n, 'kwd'],
    [1_001n, 'tnd'],
    [490_050n, 'mga'],
    [4_901n, 'clf'],
  ])('%s of %s is none', (amount, currency) => {
    expect(() => cardUnits(amount, currency)).toThrow('takes no');
  });

  it('of more decimals than the currency has is cut', () => {
    expect(minorUnitsOf(490_050n, 'isk')).toBe(4_900n);
  });
});

it.each([
  ['usd', { step: 1n, least: 50n, most: 99_999_999n }],
  ['jpy', { step: 1n, least: 50n, most: 99_999_999n }],
  ['huf', { step: 1n, least: 17_500n, most: 99_999_999n }],
  ['idr', { step: 1n, least: 1n, most: 999_999_999_999n }],
  ['isk', { step: 1n, least: 1n, most: 999_999n }],
  ['mga', { step: 100n, least: 100n, most: 9_999_999_900n }],
  ['kwd', { step: 10n, least: 10n, most: 99_999_999n }],
] as const)('of %s the card provider takes %o', (currency, limits) => {
  expect(cardLimits(currency)).toEqual(limits);
});

it('a price is refused only when no sum of it can be charged', () => {
  expect(priceFault(1_234n, cardLimits('kwd'))).toBe(
    'must be a multiple of 10, because the payment provider takes no smaller unit',
  );
  for (const amount of [0n, 1n, 99_999_999_999n])
    expect(priceFault(amount, cardLimits('usd'))).toBeUndefined();
});

it.each([
  [49n, 'must be at least $0.50, as the payment provider takes it'],
  [100_000_000n, 'must be at most $999,999.99 at once, as the payment provider takes it'],
  [199_999_980n, 'must be at most $999,999.99 at once, as the payment provider takes it'],
  [50n, undefined],
  [99_999_999n, undefined],
])('a charge of %s of 2,000,000.00: %s', (amount, fault) => {
  expect(chargeFault(amount, 200_000_000n, cardLimits('usd'), 'usd')).toBe(fault);
});

it('a charge leaves nothing, or as much as can be charged', () => {
  const limits = cardLimits('usd');
  expect(chargeFault(4_960n, 5_000n, limits, 'usd')).toBe(
    'must leave nothing, or at least $0.50, as the payment provider takes it',
  );
  for (const amount of [5_000n, 4_950n]) expect(chargeFault(amount, 5_000n, limits, 'usd')).toBeUndefined();
});

it('whatever is due is collected in charges that the provider takes, but for less than it takes', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 1n, max: 1_000_000_000n }),
      fc.constantFrom(...currencies.keys()),
      (due, currency) => {
        const limits = cardLimits(currency);
        let left = collectable(due, limits);
        expect(due - left < limits.step || (left === 0n && due < limits.least + limits.step)).toBe(true);
        for (let parts = 0; left > 0n && parts < 20; parts++) {
          const charge = firstCharge(left, limits);
          expect(chargeFault(charge, left, limits, currency)).toBeUndefined();
          expect(minorUnitsOf(BigInt(cardUnits(charge, currency)), currency)).toBe(charge);
          left -= charge;
        }
      },
    ),
  );
});
