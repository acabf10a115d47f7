import { Redis } from 'ioredis';
import type { Setting } from '../lib/settings.ts';
import type { Log } from './log.ts';

export type { Redis };

/** Where processes count together that share more than a database; empty is nowhere. */
export const redisUrl: Setting<string> = {
  name: 'PLINTH_REDIS_URL',
  default: '',
  rule: 'a redis:// or rediss:// URL',
  parse: (text) => (text === '' || /^rediss?:$/.test(URL.parse(text)?.protocol ?? '') ? text : undefined),
};

/** Connects, and again whenever the connection is lost; who uses it decides what to do without. */
export function openRedis(url: string, log: Log): Redis {
  const redis = new Redis(url, { maxRetriesPerRequest: 1 });
  redis.on('error', (error) => log.warn({ err: error }, 'redis is not reachable'));
  return redis;
}
