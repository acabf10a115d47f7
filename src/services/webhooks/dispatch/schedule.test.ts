import { expect, it } from 'vitest';
import { delayAfter } from './schedule.ts';

const hour = 3_600_000;

it.each([
  [1, 5_000],
  [2, 300_000],
  [3, 1_800_000],
  [4, 2 * hour],
  [5, 5 * hour],
  [6, 10 * hour],
  [7, 14 * hour],
  [8, 20 * hour],
  [9, 24 * hour],
  [10, 24 * hour],
  [19, 24 * hour],
])('after %i failures the next attempt comes after %i ms, a fifth more or less', (failures, ms) => {
  expect(delayAfter(failures, 0)).toBeCloseTo(ms * 0.8);
  expect(delayAfter(failures, 0.5)).toBeCloseTo(ms);
  expect(delayAfter(failures, 1)).toBeCloseTo(ms * 1.2);
});

it('ten attempts span about three days', () => {
  const total = Array.from({ length: 9 }, (_, at) => delayAfter(at + 1, 0.5)).reduce((sum, ms) => sum + ms);
  expect(total / hour).toBeCloseTo(75.6, 1);
});
