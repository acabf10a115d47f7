import fc from 'fast-check';
import { expect, test } from 'vitest';
import { editDistance, nearest } from './nearest.ts';

test.each([
  ['', '', 0],
  ['kitten', 'sitting', 3],
  ['flaw', 'lawn', 2],
  ['', 'abc', 3],
])('from %j to %j it takes %i steps', (one, other, steps) => {
  expect(editDistance(one, other)).toBe(steps);
});

test('the distance is a metric', () => {
  const word = fc.string({ maxLength: 12 });
  fc.assert(
    fc.property(word, word, word, (a, b, c) => {
      expect(editDistance(a, a)).toBe(0);
      expect(editDistance(a, b)).toBe(editDistance(b, a));
      expect(editDistance(a, c)).toBeLessThanOrEqual(editDistance(a, b) + editDistance(b, c));
    }),
  );
});

test('the nearest of several', () => {
  expect(nearest('PLINTH_REDIS_URI', ['PLINTH_AUTH_URL', 'PLINTH_REDIS_URL', 'PORT'])).toBe(
    'PLINTH_REDIS_URL',
  );
  expect(nearest('anything', [])).toBeUndefined();
});
