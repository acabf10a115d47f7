import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { periodAt } from '../periods/calendar.ts';
import { proratedBase } from './proration.ts';

const at = (text: string) => Date.parse(text);
const january = { start: at('2026-01-15T10:00Z'), end: at('2026-02-15T10:00Z') };

describe('the base amount of a part of a period', () => {
  it('is that of the time before and after a change of the plan', () => {
    const change = at('2026-01-25T16:00Z');
    expect(proratedBase(4_900n, { ...january, end: change }, january)).toBe(1_620n);
    expect(proratedBase(9_900n, { ...january, start: change }, january)).toBe(6_627n);
  });

  it('sums to the base amount, however the period is split', () => {
    const periods = fc
      .integer({ min: at('2020-01-01T00:00Z'), max: at('2040-01-01T00:00Z') })
      .map((anchor) => periodAt(anchor, 'monthly', anchor));
    const splits = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 100 });
    fc.assert(
      fc.property(
        periods,
        splits,
        fc.bigInt({ min: -(10n ** 12n), max: 10n ** 12n }),
        (period, parts, base) => {
          const length = period.end - period.start;
          const cuts = parts.map((part) => period.start + Math.floor(part * length)).sort((a, b) => a - b);
          const bounds = [period.start, ...cuts, period.end];
          const sum = bounds
            .slice(1)
            .reduce(
              (owed, end, index) => owed + proratedBase(base, { start: bounds[index]!, end }, period),
              0n,
            );
          expect(sum).toBe(base);
        },
      ),
    );
  });
});
