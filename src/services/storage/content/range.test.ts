import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseRange, rangeOf, type AskedRange } from './range.ts';

const bytes = (start: number, end: number): AskedRange => ({ start, end });

describe('a range of 10 bytes', () => {
  test.each<[string, AskedRange]>([
    ['bytes=0-0', bytes(0, 0)],
    ['bytes=0-9', bytes(0, 9)],
    ['bytes=2-5', bytes(2, 5)],
    ['BYTES=2-5', bytes(2, 5)],
    ['bytes= 2-5 ', bytes(2, 5)],
    ['bytes=02-05', bytes(2, 5)],
    ['bytes=9-', bytes(9, 9)],
    ['bytes=0-', bytes(0, 9)],
    ['bytes=5-99', bytes(5, 9)],
    ['bytes=5-99999999999999999999999', bytes(5, 9)],
    ['bytes=-1', bytes(9, 9)],
    ['bytes=-10', bytes(0, 9)],
    ['bytes=-99999999999999999999999', bytes(0, 9)],
    ['bytes=10-', 'unsatisfiable'],
    ['bytes=10-12', 'unsatisfiable'],
    ['bytes=99999999999999999999999-', 'unsatisfiable'],
    ['bytes=-0', 'unsatisfiable'],
    ['bytes=-000', 'unsatisfiable'],
    ['bytes=5-4', 'whole'],
    ['bytes=99999999999999999999999-99999999999999999999998', 'whole'],
    ['bytes=0-1,4-5', 'whole'],
    ['bytes=-', 'whole'],
    ['bytes=', 'whole'],
    ['bytes', 'whole'],
    ['bytes=a-b', 'whole'],
    ['bytes=1', 'whole'],
    ['bytes=1--2', 'whole'],
    ['bytes=+1-2', 'whole'],
    ['bytes =1-2', 'whole'],
    ['bytes=1 - 2', 'whole'],
    ['bytes=1.0-2', 'whole'],
    ['items=0-1', 'whole'],
    ['', 'whole'],
  ])('%s', (header, range) => expect(parseRange(header, 10)).toEqual(range));
});

test.each<[string, AskedRange]>([
  ['bytes=0-', 'unsatisfiable'],
  ['bytes=0-5', 'unsatisfiable'],
  ['bytes=-5', 'whole'],
  ['bytes=-0', 'unsatisfiable'],
])('of no bytes: %s', (header, range) => expect(parseRange(header, 0)).toEqual(range));

test('a range lies within the content', () => {
  const end = fc.option(fc.nat(30), { nil: '' });
  fc.assert(
    fc.property(end, end, fc.nat(20), (first, last, size) => {
      const range = parseRange(`bytes=${first}-${last}`, size);
      if (typeof range === 'string') return;
      expect(0 <= range.start && range.start <= range.end && range.end < size).toBe(true);
      if (first === '') expect(range.end).toBe(size - 1);
      else expect(range.start).toBe(first);
    }),
  );
});

describe('If-Range', () => {
  const current = { etag: '"a"', last_modified: '2026-11-20T09:46:41.700Z' };
  test.each([
    ['"a"', true],
    ['Fri, 20 Nov 2026 09:46:41 GMT', true],
    ['"b"', false],
    ['W/"a"', false],
    ['"a", "b"', false],
    ['*', false],
    ['a', false],
    ['', false],
    ['Fri, 20 Nov 2026 09:46:40 GMT', false],
    ['Fri, 20 Nov 2026 09:46:42 GMT', false],
  ])('%j', (ifRange, isCurrent) =>
    expect(rangeOf({ range: 'bytes=0-1', ifRange }, 10, current)).toEqual(isCurrent ? bytes(0, 1) : 'whole'),
  );

  test('of another version makes even an impossible range a whole', () =>
    expect(rangeOf({ range: 'bytes=99-', ifRange: '"b"' }, 10, current)).toBe('whole'));

  test('means nothing without a range', () => expect(rangeOf({ ifRange: '"a"' }, 10, current)).toBe('whole'));
});
