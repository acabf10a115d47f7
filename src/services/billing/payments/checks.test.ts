import { expect, it } from 'vitest';
import { nextCheck } from './checks.ts';

const minutes = (count: number) => count * 60_000;

it.each([
  [0, 10],
  [1, 10],
  [10, 20],
  [20, 40],
  [640, 1_280],
  [1_280, 1_440],
  [1_439, 1_440],
  [1_440, 1_500],
  [2_000, 2_060],
])('a payment of %d minutes is looked at again when it is %d minutes old', (age, next) => {
  expect(nextCheck(1_000, 1_000 + minutes(age))).toBe(1_000 + minutes(next));
});
