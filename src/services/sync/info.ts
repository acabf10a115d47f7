import type { Info } from '../../../generated/sync/server.ts';
import type { Context } from '../../http/context.ts';
import { formatDuration } from '../../lib/durations.ts';
import { datasetOf } from './dataset.ts';
import type { Deps } from './deps.ts';
import { tableStore } from './tables.store.ts';

export const info = ({ db, settings }: Pick<Deps, 'db' | 'settings'>) =>
  ({
    async get(_, context) {
      const { now, epoch } = await tableStore(db.sql).moment(datasetOf(context));
      return {
        server_time: now,
        epoch,
        presence: settings.presence === 'on',
        max_clock_drift: formatDuration(settings.maxDriftMs),
        tombstone_ttl: formatDuration(settings.tombstoneTtlMs),
        sync_interval: formatDuration(settings.syncIntervalMs),
        stream_retry: formatDuration(settings.streamRetryMs),
        presence_ttl: formatDuration(settings.presenceTtlMs),
        max_changes: settings.maxChanges,
        max_push_bytes: settings.maxPushBytes,
      };
    },
  }) satisfies Info<Context>;
