import { Big } from 'big.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { currencies } from './currencies.ts';
import {
  exactMoneyText,
  isCurrency,
  isExpressible,
  minorUnits,
  moneyOf,
  moneyText,
  mostMinorUnits,
  percentOf,
  sumOf,
} from './money.ts';
import { roundedQuotient } from './rounding.ts';

describe('money as text', () => {
  it.each([
    [4_900n, 'usd', '$49.00'],
    [-123_450n, 'usd', '-$1,234.50'],
    [5n, 'usd', '$0.05'],
    [0n, 'usd', '$0.00'],
    [4_900n, 'jpy', '¥4,900'],
    [490_000n, 'huf', 'HUF 4,900.00'],
    [490_000n, 'idr', 'IDR 4,900.00'],
    [490_000n, 'cop', 'COP 4,900.00'],
    [4_900n, 'isk', 'ISK 4,900'],
    [100_000n, 'xof', 'F CFA 100,000'],
    [-49n, 'mxn', '-MX$0.49'],
    [1_500n, 'kwd', 'KWD 1.500'],
    [9_007_199_254_740_991n, 'usd', '$90,071,992,547,409.91'],
    [-1n, 'eur', '-€0.01'],
  ])('%s %s is %s', (amount, currency, text) => {
    expect(moneyText(amount, currency)).toBe(text);
  });

  it('is exact up to the largest amount that JSON represents, and never more', () => {
    expect(moneyOf(-mostMinorUnits, 'eur').amount).toBe(Number.MIN_SAFE_INTEGER);
    expect(isExpressible(mostMinorUnits + 1n)).toBe(false);
    expect(() => moneyOf(-mostMinorUnits - 1n, 'eur')).toThrow(RangeError);
    expect(sumOf([mostMinorUnits, 1n, -2n])).toBe(mostMinorUnits - 1n);
  });

  it('shows every amount without changing a digit, in every currency', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: -mostMinorUnits, max: mostMinorUnits }),
        fc.constantFrom(...currencies.keys()),
        (amount, currency) => {
          const text = moneyText(amount, currency);
          expect(text.replaceAll(/[^0-9]/g, '').replace(/^0+(?=.)/, '')).toBe(
            String(amount).replace('-', ''),
          );
          expect(text.startsWith('-')).toBe(amount < 0n);
        },
      ),
    );
  });

  it('shows an exact amount with all its decimals', () => {
    expect(exactMoneyText('0.5', 'usd')).toBe('$0.005');
    expect(exactMoneyText('-1234567.25', 'huf')).toBe('-HUF 12,345.6725');
    expect(exactMoneyText('1500.5', 'jpy')).toBe('¥1,500.5');
  });

  it('knows the currencies by their codes in lower case', () => {
    expect(['usd', 'eur', 'zzz', 'USD', '', 'constructor'].map(isCurrency)).toEqual([
      ...[true, true],
      ...[false, false, false, false],
    ]);
  });
});

describe('rounding', () => {
  it.each([
    ['0.5', 1n],
    ['-0.5', -1n],
    ['0.499999999999', 0n],
    ['1.5', 2n],
    ['-1.4', -1n],
    ['25086', 25_086n],
    ['0', 0n],
  ])('%s minor units are %s', (exact, whole) => {
    expect(minorUnits(new Big(exact))).toBe(whole);
  });

  it.each([
    [5_000n, '19', 950n],
    [-50n, '19', -10n],
    [50n, '1', 1n],
    [49n, '1', 0n],
    [1n, '0.0001', 0n],
    [mostMinorUnits, '100', mostMinorUnits],
    [mostMinorUnits, '33.3333', 3_002_396_749_180_579n],
  ])('of %s, %s %% is %s', (amount, percent, part) => {
    expect(percentOf(amount, percent)).toBe(part);
    expect(percentOf(-amount, percent)).toBe(-part);
  });

  it('is symmetrical, and never further from the exact quotient than half', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }),
        fc.bigInt({ min: 1n, max: 10n ** 15n }),
        (n, d) => {
          const rounded = roundedQuotient(n, d);
          expect(roundedQuotient(-n, d)).toBe(-rounded);
          const twice = 2n * (rounded * d - n);
          expect((twice < 0n ? -twice : twice) <= d).toBe(true);
        },
      ),
    );
  });
});
