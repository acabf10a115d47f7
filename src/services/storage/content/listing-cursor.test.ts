import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeListingCursor, encodeListingCursor } from './listing-cursor.ts';

/** The strings of fast-check are of few characters, or take seconds to begin. */
const anyText = fc
  .array(fc.oneof(fc.nat(0x7f), fc.nat(0xd7ff), fc.integer({ min: 0xe000, max: 0x10ffff })), {
    maxLength: 250,
  })
  .map((points) => String.fromCodePoint(...points));

test('a cursor is the last row of a page', () =>
  expect(encodeListingCursor('2026/raw/')).toBe('eyJrIjoiMjAyNi9yYXcvIn0'));

test('every key survives in a cursor, which fits the contract', () => {
  const key = anyText.filter((text) => !text.includes('\0'));
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
