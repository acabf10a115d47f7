import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BillingPeriod } from '../../../../generated/billing/types.ts';
import { paidSegments, segmentAt, trialSegments, type SegmentTerms } from './segments.ts';
import { replacedFrom } from './testing/replaced.ts';

const at = (text: string) => Date.parse(text);
const iso = (instant: number) => new Date(instant).toISOString().slice(0, 10);
const plan = { planId: 'plan_pro', revision: 1 };
const paid: SegmentTerms = { kind: 'paid', plan, base: { ...plan, amount: 4_900n } };

describe('the segments of a stretch', () => {
  it('are cut at periods and at monthly windows', () => {
    const anchor = at('2026-01-31T00:00Z');
    const stretch = { start: at('2027-01-10T00:00Z'), end: at('2027-03-10T00:00Z') };
    const segments = paidSegments(stretch, { anchor, interval: 'yearly', windowAnchor: anchor }, paid);
    expect(
      segments.map(({ start, end, period, window }) => [start, end, period.start, window.start].map(iso)),
    ).toEqual([
      ['2027-01-10', '2027-01-31', '2026-01-31', '2026-12-31'],
      ['2027-01-31', '2027-02-28', '2027-01-31', '2027-01-31'],
      ['2027-02-28', '2027-03-10', '2027-01-31', '2027-02-28'],
    ]);
  });

  it('of a trial are one period, cut at the windows before the first paid period', () => {
    const period = { start: at('2026-01-01T00:00Z'), end: at('2026-03-01T00:00Z') };
    const segments = trialSegments(period, { windowAnchor: period.end, period }, { ...paid, kind: 'trial' });
    expect(
      segments.map(({ start, end, period, window }) => [start, end, period.start, window.end].map(iso)),
    ).toEqual([
      ['2026-01-01', '2026-02-01', '2026-01-01', '2026-02-01'],
      ['2026-02-01', '2026-03-01', '2026-01-01', '2026-03-01'],
    ]);
  });

  it('contain every instant exactly once, each within one period and one window', () => {
    const instants = fc.integer({ min: at('2024-01-01T00:00Z'), max: at('2030-01-01T00:00Z') });
    const intervals = fc.constantFrom<BillingPeriod>('monthly', 'yearly');
    const lengths = fc.integer({ min: 1, max: 800 * 86_400_000 });
    fc.assert(
      fc.property(
        instants,
        instants,
        instants,
        lengths,
        intervals,
        fc.double({ min: 0, max: 1, noNaN: true }),
        (anchor, windowAnchor, start, length, interval, where) => {
          const stretch = { start, end: start + length };
          const segments = paidSegments(stretch, { anchor, interval, windowAnchor }, paid);
          expect(segments[0]!.start).toBe(stretch.start);
          expect(segments.at(-1)!.end).toBe(stretch.end);
          for (const [index, one] of segments.entries()) {
            if (index > 0) expect(one.start).toBe(segments[index - 1]!.end);
            for (const around of [one.period, one.window])
              expect(around.start <= one.start && one.end <= around.end && one.start < one.end).toBe(true);
          }
          const instant = start + Math.floor(where * (length - 1));
          expect(segments.filter((one) => one.start <= instant && instant < one.end)).toEqual([
            segmentAt(segments, instant),
          ]);
        },
      ),
    );
  });

  it('end where others replace them', () => {
    const anchor = at('2026-01-01T00:00Z');
    const stretch = { start: anchor, end: at('2026-03-01T00:00Z') };
    const segments = paidSegments(stretch, { anchor, interval: 'monthly', windowAnchor: anchor }, paid);
    const change = at('2026-01-20T00:00Z');
    const rest = paidSegments(
      { start: change, end: stretch.end },
      { anchor, interval: 'monthly', windowAnchor: anchor },
      paid,
    );
    expect(replacedFrom(segments, change, rest).map(({ start, end }) => [start, end].map(iso))).toEqual([
      ['2026-01-01', '2026-01-20'],
      ['2026-01-20', '2026-02-01'],
      ['2026-02-01', '2026-03-01'],
    ]);
    expect(replacedFrom(segments, stretch.start, [])).toEqual([]);
    expect(segmentAt(segments, stretch.end)).toBeUndefined();
  });
});
