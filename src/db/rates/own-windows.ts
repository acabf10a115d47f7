import { LRUCache } from 'lru-cache';
import type { Rate } from './rates.ts';

interface Window {
  /** Start of the window, in milliseconds. */
  readonly since: number;
  readonly before: number;
  count: number;
}

/**
 * Counts in this process. The returned function counts one use of the key if the rate has one left, and returns the milliseconds
 * until the next attempt, 0 when it was counted. When there are too many keys, the least recently used ones are dropped.
 */
export function ownWindows(now: () => number = () => performance.now()): (key: string, rate: Rate) => number {
  const windows = new LRUCache<string, Window>({ max: 100_000 });

  /** The current window, which also knows the count of the window before it. */
  function current(key: string, windowMs: number): Window {
    const time = now();
    const kept = windows.get(key);
    if (kept && time < kept.since + windowMs) return kept;
    const since = kept ? kept.since + Math.floor((time - kept.since) / windowMs) * windowMs : time;
    const fresh = { since, before: kept && since === kept.since + windowMs ? kept.count : 0, count: 0 };
    windows.set(key, fresh);
    return fresh;
  }

  return (key, { limit, windowMs }) => {
    const window = current(key, windowMs);
    const past = (now() - window.since) / windowMs;
    // The previous window counts in proportion to its overlap with the last `windowMs`.
    const counted = window.count + window.before * (1 - past);
    if (counted >= limit) return (1 - past) * windowMs;
    window.count += 1;
    return 0;
  };
}
