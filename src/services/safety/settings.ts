import { choice, duration, integer, type SettingsOf } from '../../lib/settings.ts';

/** The settings that the service reads from the environment. Durations are in milliseconds. */
export const settings = {
  /** How long the results of scans are kept; statistics keep their counts. */
  retentionMs: duration('PLINTH_SAFETY_SCAN_RETENTION', '720h', { min: '1h', max: '87600h' }),
  /** `off`: redacted texts are answered, but not stored. */
  storeRedacted: choice('PLINTH_SAFETY_STORE_REDACTED', 'on', ['on', 'off']),
  /** How long a scan may take. */
  deadlineMs: duration('PLINTH_SAFETY_SCAN_DEADLINE', '10s', { min: '50ms', max: '60s' }),
  /** How many scans a process works on at once, and how many may wait to be stored. */
  queue: integer('PLINTH_SAFETY_QUEUE', 256, { min: 1, max: 10_000 }),
  /** How long a changed rule may stay unknown to other processes. */
  stalenessMs: duration('PLINTH_SAFETY_MAX_STALENESS', '1s', { min: '50ms', max: '60s' }),
  /** The most bytes, about, of the compiled rules in memory. */
  memory: integer('PLINTH_SAFETY_ENGINE_MEMORY', 268_435_456, { min: 16_777_216, max: 17_179_869_184 }),
  /** How long an original stays in the vault after its last scan. */
  vaultTtlMs: duration('PLINTH_SAFETY_VAULT_TTL', '720h', { min: '1m', max: '87600h' }),
};

export type Settings = SettingsOf<typeof settings>;
