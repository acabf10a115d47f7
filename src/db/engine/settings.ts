import { choice, duration, integer, type SettingsOf } from '../../lib/settings.ts';

/** The settings of background jobs, which every server reads, because every service may have jobs. Durations are in milliseconds. */
export const settings = {
  /** The most jobs of a queue that run at once in a process, unless the service that handles them says otherwise. */
  concurrency: integer('PLINTH_JOBS_CONCURRENCY', 16, { min: 1, max: 1_000 }),
  /** How long the jobs of a process that has vanished wait until they run elsewhere. */
  leaseMs: duration('PLINTH_JOBS_LEASE', '5s', { min: '2s', max: '5m' }),
  /** How often a process looks for jobs that no notice announced. */
  pollMs: duration('PLINTH_JOBS_POLL', '500ms', { min: '50ms', max: '10s' }),
  /** How long finished jobs are kept. */
  retentionMs: duration('PLINTH_JOBS_RETENTION', '168h', { min: '1h', max: '8760h' }),
  /** How long dead letters are kept. */
  deadLetterRetentionMs: duration('PLINTH_JOBS_DLQ_RETENTION', '8760h', { min: '1h', max: '87600h' }),
  /** How long finished workflow runs are kept. */
  runRetentionMs: duration('PLINTH_JOBS_RUN_RETENTION', '720h', { min: '1h', max: '87600h' }),
  /** Maximum number of bytes of a payload or a result. */
  maxPayload: integer('PLINTH_JOBS_MAX_PAYLOAD', 65_536, { min: 1_024, max: 1_048_576 }),
  /** How often a job's worker may vanish before the job fails. */
  maxLost: integer('PLINTH_JOBS_MAX_LOST', 10, { min: 1, max: 100 }),
  /** `off`: this process stores jobs and answers requests but executes nothing. */
  engine: choice('PLINTH_JOBS_ENGINE', 'on', ['on', 'off']),
  /** How long jobs may continue when the server stops. */
  shutdownMs: duration('PLINTH_JOBS_SHUTDOWN', '20s', { min: '0s', max: '10m' }),
};

export type EngineSettings = SettingsOf<typeof settings>;

/** The settings of an engine for which nothing is configured. */
export const defaultSettings = Object.fromEntries(
  Object.entries(settings).map(([name, setting]) => [name, setting.parse(setting.default)]),
) as EngineSettings;
