import { describe, expect, it } from 'vitest';
import { createRateLimits, type RateLimits } from './rate-limits.ts';

const log = { debug() {}, info() {}, warn() {}, error() {} };

/** How many of `count` requests pass. */
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
