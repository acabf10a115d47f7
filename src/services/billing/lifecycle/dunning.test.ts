import { expect, it } from 'vitest';
import { nextAttempt } from './dunning.ts';

const hour = 3_600_000;

it('attempts to collect are 24, 72 and 120 hours apart, and then end', () => {
  const delays = [24, 72, 120].map((hours) => hours * hour);
  const attempts = [0];
  for (
    let next = nextAttempt(1, 0, delays);
    next !== undefined;
    next = nextAttempt(attempts.length, next, delays)
  )
    attempts.push(next);
  expect(attempts.map((at) => at / hour)).toEqual([0, 24, 96, 216]);
});

it('without delays, the first failure is the last', () => {
  expect(nextAttempt(1, 0, [])).toBeUndefined();
});
