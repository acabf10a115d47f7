import { expect, it } from 'vitest';
import { secondsToText } from './text-quota.ts';

it.each<[ages: number[], wait: number]>([
  [[], 0],
  [[0, 0], 0],
  [[0, 0, 0], 600],
  [[1, 2, 30], 570],
  [[599.5, 10, 20], 1],
  [[600, 10, 20], 0],
  [[5, 700, 1_000], 0],
  [Array.from({ length: 10 }, (_, at) => 1_000 * (at + 1)), 76_400],
  [Array.from({ length: 9 }, (_, at) => 1_000 * (at + 1)), 0],
  [[...Array.from({ length: 9 }, (_, at) => 1_000 * (at + 1)), 86_400], 0],
])('after texts %j seconds ago the next one waits %d', (ages, wait) => {
  expect(secondsToText(ages)).toBe(wait);
});
