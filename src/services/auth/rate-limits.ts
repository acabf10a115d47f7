import { LRUCache } from 'lru-cache';
import type { Log } from '../../db/log.ts';
import { openRedis } from '../../db/redis.ts';
import { RateLimited } from '../../lib/errors.ts';
import { sharedWindows } from './rate-windows.redis.ts';
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
  /** What browsers open and what describes the provider. */
  visit: 600,
} as const;

export type Limited = keyof typeof perMinute;

export interface RateLimits {
  /** Counts a request. @throws RateLimited where there were too many in the last minute. */
  take(what: Limited, ip: string): Promise<void>;
  stop(): void;
}

/** Counts one under the key if fewer than `most` came in the last minute; else answers in how many seconds to ask again. */
export type CountWithin = (key: string, most: number) => number | Promise<number>;

export interface RateLimitOptions {
  readonly on: boolean;
  /** Where all processes count together; each counts alone without it. */
  readonly redisUrl?: string;
  readonly log: Log;
}

/** Limits by address. Without an answer of Redis each process counts alone: nobody is kept out by an outage, nor let in freely. */
export function createRateLimits({ on, redisUrl = '', log }: RateLimitOptions): RateLimits {
  const alone = ownWindows();
  const redis = on && redisUrl !== '' ? openRedis(redisUrl, log) : undefined;
  const together = redis && sharedWindows(redis);
  let away = false;

  async function count(key: string, most: number): Promise<number> {
    if (!together) return alone(key, most);
    try {
      const wait = await together(key, most);
      away = false;
      return wait;
    } catch (error) {
      if (!away)
        log.warn({ err: error }, 'without redis, limits by address are counted in this process alone');
      away = true;
      return alone(key, most);
    }
  }

  return {
    async take(what, ip) {
      if (!on) return;
      const wait = await count(`${what} ${isV6(ip) ? networkOf(ip) : ip}`, perMinute[what]);
      if (wait > 0) throw RateLimited('too many requests', { retryAfter: wait });
    },
    stop: () => redis?.disconnect(),
  };
}

interface Window {
  /** When it began, in milliseconds. */
  readonly since: number;
  readonly before: number;
  count: number;
}

const minute = 60_000;

/** Counts in this process. Those who are forgotten first, when there are too many, came last long ago. */
export function ownWindows(
  now: () => number = () => performance.now(),
): (key: string, most: number) => number {
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

  return (key, most) => {
    const window = current(key);
    const past = (now() - window.since) / minute;
    // The minute before counts as far as it still lies within the last 60 seconds.
    const counted = window.count + window.before * (1 - past);
    if (counted >= most) return Math.max(1, Math.ceil((1 - past) * 60));
    window.count += 1;
    return 0;
  };
}

/** Whoever has one IPv6 address has its whole /64. */
const isV6 = (ip: string) => ip.includes(':');
