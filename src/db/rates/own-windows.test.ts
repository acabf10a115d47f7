import { describe, expect, it } from 'vitest';
import { ownWindows } from './own-windows.ts';

describe('windows of a minute', () => {
  let time = 0;
  const rate = { limit: 5, windowMs: 60_000 };
  const counted = (count: ReturnType<typeof ownWindows>, tries: number) =>
    Array.from({ length: tries }, () => count('key', rate)).filter((wait) => wait === 0).length;

  it('say how long to wait', () => {
    const count = ownWindows(() => time);
    expect(counted(count, 5)).toBe(5);
    time += 15_000;
    expect(count('key', rate)).toBe(45_000);
  });

  it('a minute later the last minute still counts as far as it is one', () => {
    const count = ownWindows(() => time);
    expect(counted(count, 10)).toBe(5);
    time += 60_000;
    expect(counted(count, 10)).toBe(0);
    time += 30_000;
    expect(counted(count, 10)).toBe(3);
    time += 300_000;
    expect(counted(count, 10)).toBe(5);
  });
});
