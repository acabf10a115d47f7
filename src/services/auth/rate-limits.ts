import { LRUCache } from 'lru-cache';
import { RateLimited } from '../../lib/errors.ts';
import { networkOf } from './throttle.ts';

/** Requests a minute from one network, by what they ask for. */
export const perMinute = {
  signup: 20,
  signin: 30,
  refresh: 60,
  forgot: 5,
  resend: 5,
  sms: 5,
  code: 30,
  token: 600,
  introspect: 1_200,
} as const;

export type Limited = keyof typeof perMinute;

export interface RateLimits {
  /** Counts a request. @throws RateLimited where there were too many in the last minute. */
  take(what: Limited, ip: string): void;
}

interface Window {
  /** When it began, in milliseconds. */
  readonly since: number;
  readonly before: number;
  count: number;
}

const minute = 60_000;

/** Limits by address, counted in this process. Those who are forgotten first, when there are too many, came last long ago. */
export function createRateLimits({
  on,
  now = () => performance.now(),
}: {
  on: boolean;
  now?: () => number;
}): RateLimits {
  const windows = new LRUCache<string, Window>({ max: 100_000 });

  /** The window of this minute, which knows how many came in the minute before. */
  function current(key: string): Window {
    const time = now();
    const kept = windows.get(key);
    if (kept && time < kept.since + minute) return kept;
    const since = kept ? kept.since + Math.floor((time - kept.since) / minute) * minute : time;
    const fresh = { since, before: kept && since === kept.since + minute ? kept.count : 0, count: 0 };
    windows.set(key, fresh);
    return fresh;
  }

  return {
    take(what, ip) {
      if (!on) return;
      const window = current(`${what} ${isV6(ip) ? networkOf(ip) : ip}`);
      const past = (now() - window.since) / minute;
      // The minute before counts as far as it still lies within the last 60 seconds.
      const counted = window.count + window.before * (1 - past);
      if (counted >= perMinute[what])
        throw RateLimited('too many requests', { retryAfter: Math.max(1, Math.ceil((1 - past) * 60)) });
      window.count += 1;
    },
  };
}

/** Whoever has one IPv6 address has its whole /64. */
const isV6 = (ip: string) => ip.includes(':');
