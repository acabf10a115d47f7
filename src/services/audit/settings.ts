import { choice, duration, integer, type SettingsOf } from '../../lib/settings.ts';

/** The settings that the service reads from the environment. Durations are in milliseconds. */
export const settings = {
  /** The most events that wait in a process to be stored. */
  queue: integer('PLINTH_AUDIT_QUEUE', 10_000, { min: 100, max: 1_000_000 }),
  /** The most events of one transaction, unless a single request has more. */
  batch: integer('PLINTH_AUDIT_BATCH', 500, { min: 1, max: 5_000 }),
  /** How often the retention policies are enforced; `0s` means never. */
  retentionIntervalMs: duration('PLINTH_AUDIT_RETENTION_INTERVAL', '24h', {
    min: '1m',
    max: '720h',
    orNever: true,
  }),
  /** The shortest time that anybody but the operator may keep events. */
  minRetentionMs: duration('PLINTH_AUDIT_MIN_RETENTION', '720h', { min: '1h', max: '876000h' }),
  /**
   * Where events are archived before they are purged. `file`: in the data directory, which all processes must share. `none`: policies
   * that ask for an archive purge nothing.
   */
  archive: choice('PLINTH_AUDIT_ARCHIVE', 'file', ['file', 'none']),
  /** How long idempotency keys are kept. */
  idempotencyMs: duration('PLINTH_AUDIT_IDEMPOTENCY_RETENTION', '720h', { min: '1h', max: '8760h' }),
};

export type Settings = SettingsOf<typeof settings>;
