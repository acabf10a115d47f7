import { expect, it } from 'vitest';
import { delayAfterFailures } from './message-schedule.ts';

it('waits from a second to an hour, and gives up after ten tries', () => {
  const delays = Array.from({ length: 10 }, (_, at) => delayAfterFailures(at + 1, 0.5));
  expect(delays).toEqual([1, 3, 9, 27, 81, 243, 729, 2187, 3600, undefined]);
});

it('spreads by a tenth to both sides', () => {
  expect(delayAfterFailures(9, 0)).toBeCloseTo(3240);
  expect(delayAfterFailures(9, 1)).toBeCloseTo(3960);
});
