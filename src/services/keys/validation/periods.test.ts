import { describe, expect, it } from 'vitest';
import { checkPeriods, rangeOf } from './periods.ts';

const now = Date.parse('2026-11-20T12:00:00.000Z');
const day = 86_400_000;

describe('a range', () => {
  it.each([
    ['2026-11-20', '2026-11-20T00:00:00.000Z'],
    ['2026-11-20T01:02:03Z', '2026-11-20T01:02:03.000Z'],
    ['2026-11-20t01:02:03z', '2026-11-20T01:02:03.000Z'],
    ['2026-11-20T01:02:03.4567Z', '2026-11-20T01:02:03.457Z'],
    ['2026-11-20T01:02:03.456000Z', '2026-11-20T01:02:03.456Z'],
    ['2026-11-20T01:30:00+02:00', '2026-11-19T23:30:00.000Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['0001-01-01', '0001-01-01T00:00:00.000Z'],
  ])('from %s begins at %s', (from, begin) => {
    expect(rangeOf({ from }, day, now).from).toBe(begin);
  });

  it('without bounds is the last day, with all that may have been reported ahead of the clock', () => {
    expect(rangeOf({}, day, now)).toEqual({
      from: '2026-11-19T12:00:00.000Z',
      to: '2026-11-20T12:01:00.001Z',
    });
  });

  it.each([
    '2026-02-30',
    '2026-13-01',
    '2026-00-10',
    '2026-01-01T25:00:00Z',
    '2026-01-01T00:61:00Z',
    '2026-01-01T00:00:00+99:00',
  ])('from %s does not exist: the error names the field', (from) => {
    expect(() => rangeOf({ from }, day, now)).toThrow('from: must be a time');
    expect(() => rangeOf({ to: from }, day, now)).toThrow('to: must be a time');
  });

  it('lies in the years that times are kept in', () => {
    expect(() => rangeOf({ from: '0000-01-01' }, day, now)).toThrow('from: must lie between');
    expect(() => rangeOf({ to: '9999-12-31T23:59:59-23:59' }, day, now)).toThrow('to: must lie between');
  });

  it('may be empty but not turned round', () => {
    expect(rangeOf({ from: '2026-11-20', to: '2026-11-20' }, day, now)).toMatchObject({
      to: '2026-11-20T00:00:00.000Z',
    });
    expect(() => rangeOf({ from: '2026-11-21', to: '2026-11-20' }, day, now)).toThrow(
      'from: must not be after to',
    );
  });
});

describe('the number of periods', () => {
  it.each([
    ['hourly', '2026-01-01', '2026-02-11T16:00:00Z', true],
    ['hourly', '2026-01-01', '2026-02-11T16:00:00.001Z', false],
    ['daily', '2024-01-01', '2026-09-27', true],
    ['daily', '2024-01-01', '2026-09-27T00:00:00.001Z', false],
    ['monthly', '1943-08-15', '2026-11-30', true],
    ['monthly', '1943-07-31', '2026-11-30', false],
  ] as const)('%s from %s to %s is allowed: %s', (granularity, from, to, allowed) => {
    const check = () => checkPeriods(rangeOf({ from, to }, day, now), granularity);
    if (allowed) expect(check).not.toThrow();
    else expect(check).toThrow(/^granularity: /);
  });
});
