import { Big } from 'big.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sumOf } from '../money/money.ts';
import { chargesOf, priceOf, type Tier } from './rating.ts';
import { proratedSeats } from './seats.ts';

const period = { start: Date.parse('2026-01-15T10:00Z'), end: Date.parse('2026-02-15T10:00Z') };
const tiers: Tier[] = [
  { type: 'graduated', up_to: 10, unit_amount_decimal: '1000', flat_amount: { amount: 333 } },
  { type: 'graduated', up_to: -1, unit_amount_decimal: '0.5', flat_amount: { amount: 0 } },
];
const part = (start: number, end: number) => ({
  start,
  end,
  period,
  yearStart: period.start as number | null,
});

describe('the price of seats', () => {
  it('is that of the whole period, or of the time for which the plan prices them', () => {
    const charges = chargesOf(tiers, new Big(10));
    const half = (period.start + period.end) / 2;
    const shown = (...parts: ReturnType<typeof part>[]) =>
      proratedSeats(charges, parts).map(({ amount, isProrated }) => [amount, isProrated]);
    expect(shown(part(period.start, period.end))).toEqual([[10_333n, false]]);
    expect(shown(part(period.start, half), part(half, period.end))).toEqual([[10_333n, false]]);
    expect(shown(part(period.start, half))).toEqual([[5_167n, true]]);
    expect(shown(part(period.start, period.start + 1))).toEqual([[0n, true]]);
    // Segments from before the tenant had months keep the price that they had.
    expect(shown({ ...part(period.start, half), yearStart: null })).toEqual([[10_333n, false]]);
  });

  it('sums to that of the period, however many plans of the same price share it', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 500 }),
        fc.array(fc.double({ min: 0, max: 1, noNaN: true })),
        (held, at) => {
          const length = period.end - period.start;
          const cuts = [...new Set(at.map((where) => period.start + Math.floor(where * length)))];
          const bounds = [...new Set([period.start, ...cuts, period.end])].sort((a, b) => a - b);
          const charges = chargesOf(tiers, new Big(held));
          const plans = bounds
            .slice(1)
            .map((end, index) => proratedSeats(charges, [part(bounds[index]!, end)]));
          expect(sumOf(plans.map(priceOf))).toBe(priceOf(charges));
        },
      ),
    );
  });
});
