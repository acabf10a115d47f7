import fc from 'fast-check';
import { expect, test } from 'vitest';
import { clamped, wrapped } from './wrapping.ts';

/** Every character is one wide. */
const widthOf = (text: string) => [...text].length;

test.each([
  ['', 5, []],
  ['one two three', 20, ['one two three']],
  ['one two three', 7, ['one two', 'three']],
  ['one two three', 3, ['one', 'two', 'thr', 'ee']],
  ['abcdefgh i', 4, ['abcd', 'efgh', 'i']],
  ['ab', 0, ['a', 'b']],
])('%j in %i is %j', (text, width, lines) => {
  expect(wrapped(text, width, widthOf)).toEqual(lines);
});

test('nothing is lost, and only a character that is too wide by itself sticks out', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ minLength: 1, maxLength: 12 })),
      fc.integer({ min: 0, max: 9 }),
      (words, width) => {
        const text = words.join(' ').replaceAll(/ +/g, ' ').trim();
        const lines = wrapped(text, width, widthOf);
        expect(lines.join('').replaceAll(' ', '')).toBe(text.replaceAll(' ', ''));
        for (const line of lines) expect(widthOf(line) <= width || widthOf(line) === 1).toBe(true);
      },
    ),
  );
});

test('a text that is cut ends with an ellipsis, which fits', () => {
  expect(clamped('one two three four', 9, 2, widthOf)).toEqual(['one two', 'three…']);
  expect(clamped('abcdefghijkl', 4, 2, widthOf)).toEqual(['abcd', 'efg…']);
  expect(clamped('one', 4, 2, widthOf)).toEqual(['one']);
});
