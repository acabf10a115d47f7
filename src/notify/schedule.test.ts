import { expect, it } from 'vitest';
import { delayAfter } from './schedule.ts';

it('waits from a second to an hour, and gives up after ten attempts', () => {
  const delays = Array.from({ length: 10 }, (_, at) => delayAfter(at + 1, 0.5));
  expect(delays).toEqual([1, 3, 9, 27, 81, 243, 729, 2187, 3600, undefined]);
});

it('spreads by a tenth to both sides', () => {
  expect(delayAfter(9, 0)).toBeCloseTo(3240);
  expect(delayAfter(9, 1)).toBeCloseTo(3960);
});
