import { Big } from 'big.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { quantityFault, quantityOf, shownQuantity } from './quantities.ts';

describe('quantities', () => {
  it.each([
    ['1.5', undefined],
    ['-1000000000000', undefined],
    ['0', undefined],
    ['0.000000000001', undefined],
    ['123456789012.123', undefined],
    ['999999999999999', undefined],
    ['123456789012.1234', 'more than 15 significant digits'],
    ['0.30000000000000004', 'more than 15 significant digits'],
    ['0.0000000000001', 'more than 12 decimals'],
    ['5e-324', 'more than 12 decimals'],
    ['1.7976931348623157e308', 'more than 15 significant digits'],
  ])('%s: %s', (literal, fault) => {
    expect(quantityFault(Number(literal))).toBe(fault);
  });

  it('are kept exactly as they were written', () => {
    const literals = fc
      .tuple(fc.integer({ min: -999_999_999_999_999, max: 999_999_999_999_999 }), fc.nat(12))
      .map(([digits, decimals]) => new Big(digits).times(new Big(10).pow(-decimals)).toFixed());
    fc.assert(
      fc.property(literals, (literal) => {
        const sent = JSON.parse(literal) as number;
        expect(quantityFault(sent)).toBeUndefined();
        expect(quantityOf(sent).eq(new Big(literal))).toBe(true);
        expect(JSON.stringify(quantityOf(sent).toFixed())).toBe(JSON.stringify(new Big(literal).toFixed()));
      }),
    );
  });

  it('have no negative zero', () => {
    expect(quantityOf(-0).toFixed()).toBe('0');
  });

  it('are shown as the nearest number, within the safe integers', () => {
    expect([new Big('1e30'), new Big('-1e30'), new Big('8200.5')].map(shownQuantity)).toEqual([
      Number.MAX_SAFE_INTEGER,
      Number.MIN_SAFE_INTEGER,
      8200.5,
    ]);
  });
});
