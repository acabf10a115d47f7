import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { coverage } from './history.ts';

const at = (text: string) => Date.parse(text);
const of = (granularity: 'daily' | 'weekly' | 'monthly', end: string, start?: string) =>
  coverage({ granularity, end: at(end), start: start === undefined ? undefined : at(start) });

describe('a history', () => {
  it('by days has a bucket for each day that is touched', () => {
    expect(of('daily', '2026-01-21T08:00:00Z', '2026-01-18T23:00:00Z')).toEqual({
      buckets: ['2026-01-18', '2026-01-19', '2026-01-20', '2026-01-21'],
      firstDay: '2026-01-18',
      lastDay: '2026-01-21',
    });
  });

  it('ends before its end', () => {
    expect(of('daily', '2026-01-20T00:00:00Z', '2026-01-19T00:00:00Z').buckets).toEqual(['2026-01-19']);
  });

  it('by weeks begins on Mondays, and counts only days that are asked for', () => {
    expect(of('weekly', '2026-01-21T00:00:00Z', '2026-01-08T00:00:00Z')).toEqual({
      buckets: ['2026-01-05', '2026-01-12', '2026-01-19'],
      firstDay: '2026-01-08',
      lastDay: '2026-01-20',
    });
  });

  it('by months begins on their first days, also over the end of a year', () => {
    expect(of('monthly', '2026-02-01T00:00:00.001Z', '2025-11-30T00:00:00Z').buckets).toEqual([
      '2025-11-01',
      '2025-12-01',
      '2026-01-01',
      '2026-02-01',
    ]);
  });

  it.each([
    ['daily', '2026-01-02'],
    ['weekly', '2025-07-07'],
    ['monthly', '2023-08-01'],
  ] as const)('%s has 30 buckets unless its start is given', (granularity, first) => {
    const { buckets, firstDay } = of(granularity, '2026-01-31T12:00:00Z');
    expect([buckets.length, buckets[0], firstDay]).toEqual([30, first, first]);
  });

  it.each(['daily', 'weekly', 'monthly'] as const)(
    '%s has valid days at the start of all time',
    (granularity) => {
      for (const end of ['0001-01-01T00:00:00Z', '0001-01-01T12:00:00Z', '0002-01-01T00:00:00Z'])
        for (const day of of(granularity, end).buckets) expect(day).toMatch(/^\d{4}-\d\d-\d\d$/);
    },
  );

  it('has at most 400 buckets', () => {
    expect(of('daily', '2027-02-05T00:00:00Z', '2026-01-01T00:00:00Z').buckets).toHaveLength(400);
    expect(() => of('daily', '2027-02-05T00:00:00.001Z', '2026-01-01T00:00:00Z')).toThrow(
      'start: at most 400 periods before end',
    );
    expect(() => of('monthly', '9999-12-31T00:00:00Z', '0001-01-01T00:00:00Z')).toThrow(/^start: /);
  });

  it('starts before it ends', () => {
    expect(() => of('daily', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z')).toThrow(
      'start: must be before end',
    );
  });

  it('has adjoining buckets, of which the first contains the start and the last the end', () => {
    const instants = fc.integer({ min: at('1950-01-01T00:00:00Z'), max: at('2100-01-01T00:00:00Z') });
    const lengths = fc.integer({ min: 1, max: 300 * 86_400_000 });
    const granularities = fc.constantFrom('daily', 'weekly', 'monthly');
    fc.assert(
      fc.property(instants, lengths, granularities, (start, length, granularity) => {
        const { buckets, firstDay, lastDay } = coverage({ start, end: start + length, granularity });
        expect(buckets[0]! <= firstDay && buckets.at(-1)! <= lastDay).toBe(true);
        expect(new Set(buckets).size).toBe(buckets.length);
        const days = buckets.map((day) => new Date(day));
        if (granularity === 'weekly') expect(days.every((day) => day.getUTCDay() === 1)).toBe(true);
        if (granularity === 'monthly') expect(days.every((day) => day.getUTCDate() === 1)).toBe(true);
      }),
    );
  });
});
