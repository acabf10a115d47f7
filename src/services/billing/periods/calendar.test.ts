import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { intervalAt, intervalStart, intervalStartsBetween, type Interval } from './calendar.ts';

const at = (text: string) => Date.parse(text);
const iso = (instant: number) => new Date(instant).toISOString().slice(0, 16);

describe('the periods of an anchor', () => {
  it.each<[string, Interval, number[], string[]]>([
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
      '2026-11-30T23:59Z',
      'quarterly',
      [1, 2, 5],
      ['2027-02-28T23:59', '2027-05-30T23:59', '2028-02-29T23:59'],
    ],
    [
      '2026-01-15T10:00Z',
      'weekly',
      [1, -1, 52],
      ['2026-01-22T10:00', '2026-01-08T10:00', '2027-01-14T10:00'],
    ],
  ])('of %s, %s: the starts of %j are %j', (anchor, interval, counts, starts) => {
    expect(counts.map((count) => iso(intervalStart(at(anchor), interval, count)))).toEqual(starts);
  });

  const intervals = fc.constantFrom<Interval>('weekly', 'monthly', 'quarterly', 'yearly');
  const instants = fc.integer({ min: at('1990-01-01T00:00Z'), max: at('2090-01-01T00:00Z') });

  it('contain every instant exactly once', () => {
    fc.assert(
      fc.property(instants, intervals, instants, (anchor, interval, instant) => {
        const { start, end } = intervalAt(anchor, interval, instant);
        expect(start <= instant && instant < end).toBe(true);
        expect(intervalAt(anchor, interval, end).start).toBe(end);
        expect(intervalAt(anchor, interval, start - 1).end).toBe(start);
      }),
      { numRuns: 500 },
    );
  });

  it('begin at these instants of a stretch, without its ends', () => {
    const stretch = { start: at('2026-01-31T00:00Z'), end: at('2026-04-30T00:00Z') };
    expect(intervalStartsBetween(at('2025-01-31T00:00Z'), 'monthly', stretch).map(iso)).toEqual([
      '2026-02-28T00:00',
      '2026-03-31T00:00',
    ]);
  });
});
