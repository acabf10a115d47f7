import { choice, duration, integer, type SettingsOf } from '../../lib/settings.ts';

/** The settings that the service reads from the environment. Durations are in milliseconds. */
export const settings = {
  /** How many attempts an answer with a 4xx status gets, unless the status asks for more. */
  clientErrorAttempts: integer('PLINTH_WEBHOOKS_CLIENT_ERROR_ATTEMPTS', 4, { min: 1, max: 20 }),
  /** How long an endpoint may fail before it is disabled; `0s` means for ever. */
  disableAfterMs: duration('PLINTH_WEBHOOKS_DISABLE_AFTER', '120h', { min: '0s', max: '720h' }),
  /** How old a delivery may become before it fails. */
  maxAgeMs: duration('PLINTH_WEBHOOKS_MAX_AGE', '168h', { min: '1h', max: '720h' }),
  /** How long events, ended deliveries and dead letters are kept. */
  retentionMs: duration('PLINTH_WEBHOOKS_RETENTION', '720h', { min: '24h', max: '9600h' }),
  /** How long idempotency keys are kept, at most as long as events. */
  idempotencyMs: duration('PLINTH_WEBHOOKS_IDEMPOTENCY', '720h', { min: '24h', max: '9600h' }),
  /** The most attempts that each process makes at once. */
  concurrency: integer('PLINTH_WEBHOOKS_CONCURRENCY', 1_024, { min: 1, max: 10_000 }),
  /** `off`: this process accepts events but does not deliver them. */
  dispatch: choice('PLINTH_WEBHOOKS_DISPATCH', 'on', ['on', 'off']),
  /** Maximum number of endpoints of a tenant. */
  maxEndpoints: integer('PLINTH_WEBHOOKS_MAX_ENDPOINTS', 1_000, { min: 1, max: 100_000 }),
};

export type Settings = SettingsOf<typeof settings>;
