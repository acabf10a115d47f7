import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeListingCursor, encodeListingCursor } from './listing-cursor.ts';

test('a cursor is the last row of a page', () =>
  expect(encodeListingCursor('2026/raw/')).toBe('eyJrIjoiMjAyNi9yYXcvIn0'));

test('every key survives in a cursor, which fits the contract', () => {
  const key = fc.string({ unit: 'binary', maxLength: 256 }).filter((text) => !text.includes('\0'));
  fc.assert(
    fc.property(key, (text) => {
      expect(decodeListingCursor(encodeListingCursor(text))).toBe(text);
    }),
  );
  expect(encodeListingCursor('"'.repeat(1024)).length).toBeLessThanOrEqual(4096);
});

const cursor = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
test.each([
  '',
  'a',
  '====',
  'a'.repeat(5000),
  cursor(null),
  cursor('a'),
  cursor([]),
  cursor({}),
  cursor({ k: 1 }),
  cursor({ k: 'a\0' }),
  cursor({ k: 'a'.repeat(1025) }),
  Buffer.from('{"k":"\\ud800"}').toString('base64url'),
])('refused: %.40s', (text) => expect(() => decodeListingCursor(text)).toThrow('invalid cursor'));
