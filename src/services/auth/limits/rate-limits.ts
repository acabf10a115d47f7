import type { Log } from '../../../db/log.ts';
import { createWindows } from '../../../db/rates/windows.ts';
import { subscriberOf } from '../../../lib/addresses.ts';
import { RateLimited } from '../../../lib/errors.ts';

/** Requests per minute from one network, by kind. */
export const perMinute = {
  signup: 20,
  signin: 30,
  refresh: 60,
  forgot: 5,
  resend: 5,
  sms: 5,
  code: 30,
  register: 10,
  token: 600,
  introspect: 1_200,
  /** Pages that browsers open and documents that describe the provider. */
  visit: 600,
} as const;

export type Limited = keyof typeof perMinute;

export interface RateLimits {
  /** Counts a request. @throws RateLimited if there were too many in the last minute */
  take(what: Limited, ip: string): Promise<void>;
  stop(): void;
}

export interface RateLimitOptions {
  readonly on: boolean;
  /** The Redis in which all processes count together; without it, each counts on its own. */
  readonly redisUrl?: string;
  readonly log: Log;
}

const minute = 60_000;

/** Limits by address, for all processes that share a Redis. */
export function createRateLimits({ on, redisUrl = '', log }: RateLimitOptions): RateLimits {
  if (!on) return { take: async () => {}, stop() {} };
  const windows = createWindows({ redisUrl, prefix: 'plinth:auth:rate', log });
  return {
    async take(what, ip) {
      const rate = { limit: perMinute[what], windowMs: minute };
      const waitMs = await windows.count(`${what} ${subscriberOf(ip)}`, rate);
      if (waitMs > 0) throw RateLimited('too many requests', { retryAfter: Math.ceil(waitMs / 1_000) });
    },
    stop: () => windows.stop(),
  };
}
