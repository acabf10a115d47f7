import { Redis } from 'ioredis';
import type { Setting } from '../lib/settings.ts';
import type { Log } from './log.ts';

export type { Redis };

/** URL of the Redis in which processes keep shared counts; empty means none. */
export const redisUrl: Setting<string> = {
  name: 'PLINTH_REDIS_URL',
  default: '',
  rule: 'a redis:// or rediss:// URL',
  parse: (text) => (text === '' || /^rediss?:$/.test(URL.parse(text)?.protocol ?? '') ? text : undefined),
};

/**
 * Connects, and reconnects whenever the connection is lost; the callers decide what to do without Redis. A command that has no answer
 * within `patienceMs` milliseconds fails.
 */
export function openRedis(url: string, log: Log, patienceMs: number): Redis {
  const redis = new Redis(url, { maxRetriesPerRequest: 1, commandTimeout: patienceMs });
  redis.on('error', (error) => log.warn({ err: error }, 'redis is not reachable'));
  return redis;
}
