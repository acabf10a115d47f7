import { describe, expect, it } from 'vitest';
import { createRateLimits, ownWindows, type RateLimits } from './rate-limits.ts';

const log = { debug() {}, info() {}, warn() {}, error() {} };

/** How many of so many requests pass. */
async function passed(limits: RateLimits, count: number, ip = '203.0.113.7'): Promise<number> {
  const taken = await Promise.allSettled(Array.from({ length: count }, () => limits.take('forgot', ip)));
  return taken.filter(({ status }) => status === 'fulfilled').length;
}

describe('limits by address', () => {
  it('so many a minute from one address, and how long to wait', async () => {
    const limits = createRateLimits({ on: true, log });
    expect(await passed(limits, 10)).toBe(5);
    expect(await passed(limits, 10, '203.0.113.8')).toBe(5);
    await limits.take('signin', '203.0.113.7');
    await expect(limits.take('forgot', '203.0.113.7')).rejects.toMatchObject({
      kind: 'rateLimited',
      retryAfter: 60,
    });
  });

  it('an IPv6 network is one address', async () => {
    const limits = createRateLimits({ on: true, log });
    expect((await passed(limits, 3, '2001:db8::1')) + (await passed(limits, 5, '2001:db8::2'))).toBe(5);
    expect(await passed(limits, 5, '2001:db8:0:1::1')).toBe(5);
  });

  it('nothing is counted where they are off', async () => {
    expect(await passed(createRateLimits({ on: false, log }), 100)).toBe(100);
  });
});

describe('windows of a minute', () => {
  let time = 0;
  const counted = (count: ReturnType<typeof ownWindows>, tries: number) =>
    Array.from({ length: tries }, () => count('key', 5)).filter((wait) => wait === 0).length;

  it('say how long to wait', () => {
    const count = ownWindows(() => time);
    expect(counted(count, 5)).toBe(5);
    time += 15_000;
    expect(count('key', 5)).toBe(45);
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
