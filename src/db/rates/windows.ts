import type { Log } from '../log.ts';
import { openRedis } from '../redis.ts';
import { ownWindows } from './own-windows.ts';
import type { Rate } from './rates.ts';
import { redisRates } from './redis-rates.ts';

/** Counts uses of keys, approximately, in windows of time that slide. */
export interface Windows {
  /** Counts one use of the key if the rate has one left. Returns the milliseconds until the next attempt, 0 when it was counted. */
  count(key: string, rate: Rate): number | Promise<number>;
  stop(): void;
}

export interface WindowsOptions {
  /** The Redis in which all processes count together; empty means that each counts on its own. */
  readonly redisUrl: string;
  /** The prefix of the keys' names in Redis. */
  readonly prefix: string;
  readonly log: Log;
}

/** Milliseconds. A slower response counts as none: a sign-in does not wait for a counter. */
const patienceMs = 500;

/**
 * Counts in Redis, or in this process. When Redis does not respond, each process counts on its own: an outage neither blocks callers
 * nor lifts limits.
 */
export function createWindows({ redisUrl, prefix, log }: WindowsOptions): Windows {
  const alone = ownWindows();
  if (redisUrl === '') return { count: alone, stop() {} };
  const redis = openRedis(redisUrl, log, patienceMs);
  const together = redisRates(redis, prefix);
  let isAway = false;

  async function inRedis(key: string, rate: Rate): Promise<number> {
    // Otherwise the command would wait for the connection.
    if (redis.status !== 'ready') throw new Error(`the connection to redis is ${redis.status}`);
    const { granted, waitMs } = await together.reserve({ tenant: '', key }, elevenTenths(rate), 1, 1);
    return granted > 0 ? 0 : Math.max(waitMs ?? 0, 1);
  }

  return {
    async count(key, rate) {
      try {
        const wait = await inRedis(key, rate);
        isAway = false;
        return wait;
      } catch (error) {
        if (!isAway) log.warn({ err: error }, 'without redis, rates are counted in this process alone');
        isAway = true;
        return alone(key, rate);
      }
    },
    stop: () => redis.disconnect(),
  };
}

/**
 * The store counts a use for up to eleven tenths of the window that it is given. With this window that time is never longer than
 * the rate's own, so a caller below the rate is not refused.
 */
const elevenTenths = ({ limit, windowMs }: Rate): Rate => ({
  limit,
  windowMs: Math.floor(windowMs / 11) * 10,
});
