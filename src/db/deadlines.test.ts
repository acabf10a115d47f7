import { expect, test, vi } from 'vitest';
import { createDeadlines } from './deadlines.ts';

test('deadlines are over in their order, unless they were met, and leave no timer behind', async () => {
  vi.useFakeTimers();
  const over: number[] = [];
  const deadlines = createDeadlines(1_000);
  deadlines.add(() => over.push(1));
  const met = deadlines.add(() => over.push(2));
  await vi.advanceTimersByTimeAsync(600);
  deadlines.add(() => over.push(3));
  met();
  await vi.advanceTimersByTimeAsync(600);
  expect(over).toEqual([1]);
  await vi.advanceTimersByTimeAsync(800);
  expect(over).toEqual([1, 3]);
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

test('the time for which the process is held up does not count', async () => {
  const deadlines = createDeadlines(500);
  let isOver = false;
  deadlines.add(() => (isOver = true));
  const end = performance.now() + 900;
  while (performance.now() < end);
  await new Promise((resolve) => setTimeout(resolve, 1));
  expect(isOver).toBe(false);
  await expect.poll(() => isOver).toBe(true);
});
