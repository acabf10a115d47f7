import { expect, it } from 'vitest';
import { nextDelay } from './back-off.ts';

const delays = [1, 60, 3_600];

it.each([
  [1, 0.5, 1],
  [2, 0.5, 60],
  [3, 0.5, 3_600],
  [3, 0, 3_240],
  [3, 1, 3_960],
])('after failure %i, with the chance %d, the wait is %d', (failures, chance, wait) => {
  expect(nextDelay(delays, failures, chance)).toBeCloseTo(wait);
});

it('ends after the last delay', () => {
  expect(nextDelay(delays, 4, 0.5)).toBeUndefined();
  expect(nextDelay([], 1, 0.5)).toBeUndefined();
});
