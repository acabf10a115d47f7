import { redisUrl } from '../../db/redis.ts';
import { choice, duration, integer } from '../../lib/settings.ts';

/** The settings that the service reads from the environment. Durations are in milliseconds. */
export const settings = {
  /** Maximum number of entries in the validation cache. */
  cache: integer('PLINTH_KEYS_CACHE', 100_000, { min: 0, max: 5_000_000 }),
  /** Maximum number of keys of a tenant. */
  maxPerTenant: integer('PLINTH_KEYS_MAX_PER_TENANT', 1_000_000, { min: 1, max: 100_000_000 }),
  /** `on`: unregistered scope names are rejected; `off`: they are registered. */
  strictScopes: choice('PLINTH_KEYS_STRICT_SCOPES', 'off', ['on', 'off']),
  /** How long usage records are kept. */
  usageRetention: duration('PLINTH_KEYS_USAGE_RETENTION', '2160h', { min: '24h', max: '87600h' }),
  /** How long the hourly usage sums are kept. */
  hourlyRetention: duration('PLINTH_KEYS_HOURLY_RETENTION', '9600h', { min: '24h', max: '87600h' }),
  /** Maximum number of usage records that wait to be stored, in each process. */
  usageBacklog: integer('PLINTH_KEYS_USAGE_BACKLOG', 20_000, { min: 1_000, max: 1_000_000 }),
  /** `off`: batches of usage do not wait for the database's disk. */
  commit: choice('PLINTH_KEYS_COMMIT', 'on', ['on', 'off']),
  /** The Redis that counts rate units instead of the database. */
  redisUrl,
};
