import { afterEach, expect, test, vi } from 'vitest';
import { DatabaseClock } from './clock.ts';

afterEach(() => void vi.restoreAllMocks());

test('a clock that was measured knows the time to half a round trip, whatever the clock of the process shows', () => {
  vi.spyOn(performance, 'now').mockReturnValue(130);
  vi.spyOn(Date, 'now').mockReturnValue(7);
  const clock = new DatabaseClock();
  expect([clock.now(), clock.uncertainty()]).toEqual([7, 0]);
  clock.observe(50_000, 100, 130);
  expect([clock.now(), clock.uncertainty()]).toEqual([50_015, 15]);
});

test('a round trip that took long measures worse than what was measured before', () => {
  vi.spyOn(performance, 'now').mockReturnValue(5_000);
  const clock = new DatabaseClock();
  clock.observe(50_000, 0, 2_000);
  expect([clock.now(), clock.uncertainty()]).toEqual([54_000, 1_000]);
  clock.observe(60_000, 4_980, 5_000);
  clock.observe(70_000, 3_000, 5_000);
  expect([clock.now(), clock.uncertainty()]).toEqual([60_010, 10]);
});
