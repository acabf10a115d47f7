import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Interval } from './calendar.ts';
import { endOfNextPeriod, segmentsOf } from './segments.ts';

const at = (text: string) => Date.parse(text);
const iso = (instant: number) => new Date(instant).toISOString().slice(0, 10);

describe('the segments of a stretch', () => {
  it('are cut at periods and at monthly windows', () => {
    const anchor = at('2026-01-31T00:00Z');
    const stretch = { start: at('2026-03-10T00:00Z'), end: at('2026-05-10T00:00Z') };
    const segments = segmentsOf('paid', stretch, { anchor, interval: 'quarterly' });
    expect(
      segments.map(({ start, end, period, window }) => [start, end, period.start, window.start].map(iso)),
    ).toEqual([
      ['2026-03-10', '2026-03-31', '2026-01-31', '2026-02-28'],
      ['2026-03-31', '2026-04-30', '2026-01-31', '2026-03-31'],
      ['2026-04-30', '2026-05-10', '2026-04-30', '2026-04-30'],
    ]);
  });

  it('contain every instant exactly once, each within one period and one window', () => {
    const instants = fc.integer({ min: at('2024-01-01T00:00Z'), max: at('2030-01-01T00:00Z') });
    const intervals = fc.constantFrom<Interval>('weekly', 'monthly', 'quarterly', 'yearly');
    fc.assert(
      fc.property(
        instants,
        instants,
        fc.integer({ min: 1, max: 400 * 86_400_000 }),
        intervals,
        (anchor, start, length, interval) => {
          const stretch = { start, end: start + length };
          const segments = segmentsOf('paid', stretch, { anchor, interval });
          expect(segments[0]!.start).toBe(stretch.start);
          expect(segments.at(-1)!.end).toBe(stretch.end);
          for (const [index, one] of segments.entries()) {
            if (index > 0) expect(one.start).toBe(segments[index - 1]!.end);
            for (const around of [one.period, one.window])
              expect(around.start <= one.start && one.end <= around.end && one.start < one.end).toBe(true);
          }
        },
      ),
    );
  });

  it('exist until the end of the next period', () => {
    expect(iso(endOfNextPeriod(at('2026-01-31T00:00Z'), 'monthly', at('2026-02-10T00:00Z')))).toBe(
      '2026-03-31',
    );
  });
});
