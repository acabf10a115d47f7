import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { earliestMoment, latestMoment, momentText, parseMoment } from './moments.ts';

const normal = (text: string) => momentText(parseMoment(text, 'at').ms);

describe('a time is read in all forms that RFC 3339 has', () => {
  test.each([
    ['2026-11-20T09:30:00Z', '2026-11-20T09:30:00.000Z'],
    ['2026-11-20t09:30:00.5z', '2026-11-20T09:30:00.500Z'],
    ['2026-11-20 09:30:00.123456789Z', '2026-11-20T09:30:00.123Z'],
    ['2026-11-20T09:30:00+05:45', '2026-11-20T03:45:00.000Z'],
    ['2026-11-20T09:30:00-23:59', '2026-11-21T09:29:00.000Z'],
    ['2026-11-20T09:30:00-00:00', '2026-11-20T09:30:00.000Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ['0001-01-01T23:59:00+23:59', '0001-01-01T00:00:00.000Z'],
    ['0099-12-31T23:59:59.999Z', '0099-12-31T23:59:59.999Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
    ['9999-12-31T00:00:00-23:59', '9999-12-31T23:59:00.000Z'],
  ])('%s is %s', (text, expected) => {
    expect(normal(text)).toBe(expected);
  });

  test('every moment of the range is read as it is written', () => {
    fc.assert(
      fc.property(fc.integer({ min: earliestMoment, max: latestMoment }), (ms) => {
        expect(parseMoment(momentText(ms), 'at')).toEqual({ ms, cut: false });
      }),
    );
  });

  test('digits beyond milliseconds are cut off, and that is said where they meant something', () => {
    expect(parseMoment('2026-11-20T09:30:00.0009Z', 'at')).toMatchObject({ cut: true });
    expect(parseMoment('2026-11-20T09:30:00.001000Z', 'at')).toMatchObject({ cut: false });
  });
});

describe('what is no time, or none that can be kept, is refused', () => {
  const shape = 'at: must be a time such as 2026-11-20T09:30:00Z';
  const range = 'at: must lie between 0001-01-01T00:00:00Z and 9999-12-31T23:59:59.999Z';
  test.each([
    ['', shape],
    ['2026-11-20', shape],
    ['2026-11-20T09:30Z', shape],
    ['2026-11-20T09:30:00', shape],
    ['2026-11-20T09:30:00.Z', shape],
    ['2026-02-29T00:00:00Z', shape],
    ['2026-13-01T00:00:00Z', shape],
    ['2026-00-01T00:00:00Z', shape],
    ['2026-01-00T00:00:00Z', shape],
    ['2026-01-01T24:00:00Z', shape],
    ['2026-01-01T23:60:00Z', shape],
    ['2026-01-01T23:59:61Z', shape],
    ['2026-01-01T00:00:00+24:00', shape],
    ['2026-01-01T00:00:00+00:60', shape],
    ['2016-12-31T24:59:60+01:00', shape],
    ['+02026-01-01T00:00:00Z', shape],
    ['٢٠٢٦-01-01T00:00:00Z', shape],
    ['2026-01-01T00:00:00Z\n', shape],
    [`2026-01-01T00:00:00.${'0'.repeat(20)}Z`, shape],
    ['infinity', shape],
    ['0000-01-01T00:00:00Z', range],
    ['0000-12-31T23:59:59.999Z', range],
    ['0001-01-01T00:00:00+00:01', range],
    ['9999-12-31T23:59:59-23:59', range],
    ['2016-12-31T23:59:60Z', shape],
    ['2017-01-01T00:59:60.75+01:00', shape],
    ['2016-12-30T23:59:60Z', shape],
  ])('%j', (text, message) => {
    expect(() => parseMoment(text, 'at')).toThrow(message);
  });
});
