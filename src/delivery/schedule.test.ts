import { describe, expect, it } from 'vitest';
import { delayAfter, usualSchedule } from './schedule.ts';

const delay = (failures: number, retryAfter: number | undefined, chance: number) =>
  delayAfter(usualSchedule, failures, retryAfter, chance);

describe('the next attempt', () => {
  it.each([
    [1, 5],
    [2, 300],
    [3, 1_800],
    [4, 7_200],
    [5, 18_000],
    [6, 36_000],
    [7, 36_000],
  ])('after failure %i comes after %i seconds, a tenth more or less', (failures, seconds) => {
    expect(delay(failures, undefined, 0)).toBeCloseTo(seconds * 0.9);
    expect(delay(failures, undefined, 0.5)).toBeCloseTo(seconds);
    expect(delay(failures, undefined, 1)).toBeCloseTo(seconds * 1.1);
  });

  it('does not come after the eighth', () => {
    expect(delay(8, 10, 0.5)).toBeUndefined();
  });

  it('waits as long as the receiver asks for, at most an hour', () => {
    expect(delay(1, 60, 0.5)).toBe(60);
    expect(delay(1, 86_400, 0.5)).toBe(3_600);
    expect(delay(4, 60, 0.5)).toBe(7_200);
  });

  it('follows the schedule that it is given', () => {
    const schedule = { delays: [10], longestRetryAfter: 20 };
    expect(delayAfter(schedule, 1, 86_400, 0.5)).toBe(20);
    expect(delayAfter(schedule, 2, undefined, 0.5)).toBeUndefined();
  });
});
