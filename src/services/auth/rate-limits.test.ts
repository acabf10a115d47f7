import { describe, expect, it } from 'vitest';
import { createRateLimits } from './rate-limits.ts';

describe('limits by address', () => {
  let time = 0;
  const now = () => time;
  const taken = (limits: ReturnType<typeof createRateLimits>, count: number, ip = '203.0.113.7') => {
    let passed = 0;
    for (let n = 0; n < count; n += 1)
      try {
        limits.take('forgot', ip);
        passed += 1;
      } catch {
        // Refused.
      }
    return passed;
  };

  it('so many a minute from one address, and how long to wait', () => {
    const limits = createRateLimits({ on: true, now });
    expect(taken(limits, 10)).toBe(5);
    expect(taken(limits, 10, '203.0.113.8')).toBe(5);
    limits.take('signin', '203.0.113.7');
    time += 15_000;
    expect(() => limits.take('forgot', '203.0.113.7')).toThrow(
      expect.objectContaining({ kind: 'rateLimited', retryAfter: 45 }) as Error,
    );
  });

  it('a minute later the last minute still counts as far as it is one', () => {
    const limits = createRateLimits({ on: true, now });
    expect(taken(limits, 10)).toBe(5);
    time += 60_000;
    expect(taken(limits, 10)).toBe(0);
    time += 30_000;
    expect(taken(limits, 10)).toBe(3);
    time += 300_000;
    expect(taken(limits, 10)).toBe(5);
  });

  it('an IPv6 network is one address', () => {
    const limits = createRateLimits({ on: true, now });
    expect(taken(limits, 3, '2001:db8::1') + taken(limits, 5, '2001:db8::2')).toBe(5);
    expect(taken(limits, 5, '2001:db8:0:1::1')).toBe(5);
  });

  it('nothing is counted where they are off', () => {
    expect(taken(createRateLimits({ on: false, now }), 100)).toBe(100);
  });
});
