import { redisUrl } from '../../db/redis.ts';
import { choice, duration, integer } from '../../lib/settings.ts';

/** What the service reads from the environment. Durations are milliseconds. */
export const settings = {
  /** Entries that the cache of validations holds at most. */
  cache: integer('PLINTH_KEYS_CACHE', 100_000, { min: 0, max: 5_000_000 }),
  /** Keys that a tenant may have. */
  maxPerTenant: integer('PLINTH_KEYS_MAX_PER_TENANT', 1_000_000, { min: 1, max: 100_000_000 }),
  /** `on`: names of scopes that are not registered are refused; `off`: they are registered. */
  strictScopes: choice('PLINTH_KEYS_STRICT_SCOPES', 'off', ['on', 'off']),
  /** How long usage records are kept. */
  usageRetention: duration('PLINTH_KEYS_USAGE_RETENTION', '2160h', { min: '24h', max: '87600h' }),
  /** How long the hourly sums of usage are kept. */
  hourlyRetention: duration('PLINTH_KEYS_HOURLY_RETENTION', '9600h', { min: '24h', max: '87600h' }),
  /** Usage records that may wait to be stored, in each process. */
  usageBacklog: integer('PLINTH_KEYS_USAGE_BACKLOG', 20_000, { min: 1_000, max: 1_000_000 }),
  /** `off`: batches of usage do not wait for the disk of the database. */
  commit: choice('PLINTH_KEYS_COMMIT', 'on', ['on', 'off']),
  /** Where rate units are counted instead of in the database. */
  redisUrl,
};
