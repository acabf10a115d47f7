import { choice, duration, integer, text, type SettingsOf } from '../../lib/settings.ts';

/** The settings that the service reads from the environment. Durations are in milliseconds. */
export const settings = {
  /** Whether nodes can announce presence. */
  presence: choice('PLINTH_SYNC_PRESENCE', 'off', ['on', 'off']),
  /** How long presence lasts unless it is renewed. */
  presenceTtlMs: duration('PLINTH_SYNC_PRESENCE_TTL', '30s', { min: '5s', max: '10m' }),
  /** How far a change may be ahead of the clock of the database. */
  maxDriftMs: duration('PLINTH_SYNC_MAX_DRIFT', '5s', { min: '1s', max: '5m' }),
  /** How long deletions are remembered. */
  tombstoneTtlMs: duration('PLINTH_SYNC_TOMBSTONE_TTL', '168h', { min: '1h', max: '8760h' }),
  /** How often deletions are forgotten whose time has passed. */
  purgeIntervalMs: duration('PLINTH_SYNC_PURGE_INTERVAL', '1h', { min: '1m', max: '24h' }),
  /** How often a process with streams looks for changes of which it has not heard. */
  streamPollMs: duration('PLINTH_SYNC_STREAM_POLL', '1s', { min: '100ms', max: '60s' }),
  /** After how much silence a comment keeps a stream alive. */
  streamKeepaliveMs: duration('PLINTH_SYNC_STREAM_KEEPALIVE', '15s', { min: '1s', max: '5m' }),
  /** How long a client waits before it opens its stream again. */
  streamRetryMs: duration('PLINTH_SYNC_STREAM_RETRY', '5s', { min: '1s', max: '5m' }),
  /** After how long a stream ends; whoever opens it again shows its credential again. */
  streamMaxAgeMs: duration('PLINTH_SYNC_STREAM_MAX_AGE', '1h', { min: '1m', max: '24h' }),
  /** Maximum number of streams of a process. */
  maxStreams: integer('PLINTH_SYNC_MAX_STREAMS', 10_000, { min: 1, max: 100_000 }),
  /** How often clients without a stream should sync; the server only tells them. */
  syncIntervalMs: duration('PLINTH_SYNC_SYNC_INTERVAL', '30s', { min: '1s', max: '24h' }),
  /** Maximum number of changes of a push. */
  maxChanges: integer('PLINTH_SYNC_MAX_CHANGES', 5_000, { min: 1, max: 5_000 }),
  /** Maximum size of a push in bytes. */
  maxPushBytes: integer('PLINTH_SYNC_MAX_PUSH_BYTES', 8_388_608, { min: 65_536, max: 67_108_864 }),
  /** The module whose hooks see changes on their way in and out; none by default. */
  hooks: text('PLINTH_SYNC_HOOKS', '', 'the path of a module', /^[^\0]{0,4096}$/),
};

export type Settings = SettingsOf<typeof settings>;
