import { duration, integer, SettingError, type SettingsOf } from '../../lib/settings.ts';

/** The settings that the service reads from the environment. */
export const settings = {
  /** No decision reflects a state older than this. */
  maxStaleness: duration('PLINTH_AUTHZ_MAX_STALENESS', '1s', { min: '50ms', max: '60s' }),
  /** How often the revisions of the tenants in use are read. */
  pollInterval: duration('PLINTH_AUTHZ_POLL_INTERVAL', '200ms', { min: '10ms', max: '30s' }),
  /** How much longer decisions continue while the database is unreachable. */
  staleGrace: duration('PLINTH_AUTHZ_STALE_GRACE', '0s', { min: '0s', max: '1h' }),
  /** Tenants with up to this many assignments and tuples are held in memory as a whole. */
  preloadFacts: integer('PLINTH_AUTHZ_PRELOAD_FACTS', 200_000, { min: 0, max: 5_000_000 }),
  /** Maximum bytes for the models of all tenants together. */
  memory: integer('PLINTH_AUTHZ_MEMORY', 268_435_456, { min: 16_777_216, max: 68_719_476_736 }),
  /** Maximum length of a chain of relations that a check follows. */
  maxDepth: integer('PLINTH_AUTHZ_MAX_DEPTH', 50, { min: 5, max: 200 }),
  /** Maximum number of nodes that a check visits before it is denied. */
  maxVisits: integer('PLINTH_AUTHZ_MAX_VISITS', 50_000, { min: 1_000, max: 1_000_000 }),
  /** Time after which a page of a listing ends. */
  listBudget: duration('PLINTH_AUTHZ_LIST_BUDGET', '1s', { min: '50ms', max: '30s' }),
  /** How long the change log, which other processes follow, is kept. */
  changesRetention: duration('PLINTH_AUTHZ_CHANGES_RETENTION', '24h', { min: '10m', max: '720h' }),
};

export type Settings = SettingsOf<typeof settings>;

/** Rejects a poll interval at which models would go stale between two polls. */
export function checkSettings({ maxStaleness, pollInterval }: Settings): void {
  if (pollInterval > maxStaleness / 2)
    throw new SettingError('PLINTH_AUTHZ_POLL_INTERVAL must be at most half of PLINTH_AUTHZ_MAX_STALENESS');
}
