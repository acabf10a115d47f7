import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BillingPeriod } from '../../../../generated/billing/types.ts';
import { dayText, periodAt, periodStart, periodStartsWithin, windowAt } from './calendar.ts';

const at = (text: string) => Date.parse(text);
const iso = (instant: number) => new Date(instant).toISOString().slice(0, 16);

describe('the periods of an anchor', () => {
  it.each<[string, BillingPeriod, number[], string[]]>([
    [
      '2026-01-31T10:00Z',
      'monthly',
      [0, 1, 2, 3, 13],
      ['2026-01-31T10:00', '2026-02-28T10:00', '2026-03-31T10:00', '2026-04-30T10:00', '2027-02-28T10:00'],
    ],
    [
      '2024-02-29T00:00Z',
      'yearly',
      [1, 2, 4, -1],
      ['2025-02-28T00:00', '2026-02-28T00:00', '2028-02-29T00:00', '2023-02-28T00:00'],
    ],
    [
      '2026-11-30T23:59:59.999Z',
      'monthly',
      [1, 3, 15],
      ['2026-12-30T23:59', '2027-02-28T23:59', '2028-02-29T23:59'],
    ],
  ])('of %s, %s: the starts of %j are %j', (anchor, interval, counts, starts) => {
    expect(counts.map((count) => iso(periodStart(at(anchor), interval, count)))).toEqual(starts);
  });

  const intervals = fc.constantFrom<BillingPeriod>('monthly', 'yearly');
  const instants = fc.integer({ min: at('1990-01-01T00:00Z'), max: at('2090-01-01T00:00Z') });

  it('contain every instant exactly once', () => {
    fc.assert(
      fc.property(instants, intervals, instants, (anchor, interval, instant) => {
        const { start, end } = periodAt(anchor, interval, instant);
        expect(start <= instant && instant < end).toBe(true);
        expect(periodAt(anchor, interval, end).start).toBe(end);
        expect(periodAt(anchor, interval, start - 1).end).toBe(start);
      }),
      { numRuns: 500 },
    );
  });

  it('keep the day of the anchor over four years, in months that have it', () => {
    for (const day of ['28', '29', '30', '31'])
      for (let count = 0; count <= 48; count += 1) {
        const start = new Date(periodStart(at(`2027-12-${day}T00:00Z`), 'monthly', count));
        const last = new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1, 0)).getUTCDate();
        expect(start.getUTCDate()).toBe(Math.min(Number(day), last));
        expect(start.getUTCMonth()).toBe((11 + count) % 12);
      }
  });

  it('begin at these instants of a stretch, without its ends', () => {
    const stretch = { start: at('2026-01-31T00:00Z'), end: at('2026-04-30T00:00Z') };
    expect(periodStartsWithin(at('2025-01-31T00:00Z'), 'monthly', stretch).map(iso)).toEqual([
      '2026-02-28T00:00',
      '2026-03-31T00:00',
    ]);
  });

  it('have windows of a month, also before the anchor', () => {
    const { start, end } = windowAt(at('2026-03-31T12:00Z'), at('2026-02-10T00:00Z'));
    expect([start, end].map(iso)).toEqual(['2026-01-31T12:00', '2026-02-28T12:00']);
    expect(dayText(start)).toBe('2026-01-31');
  });
});
