import type { Sweep } from '../../../db/sweeps.ts';
import type { Deps } from '../deps.ts';
import { forgettingStore } from './forgetting.store.ts';

/** Forgets deletions and removals that arrived longer ago than they are remembered. */
export const forgettingSweep = ({ db, write, settings }: Pick<Deps, 'db' | 'write' | 'settings'>): Sweep => ({
  name: 'sync.forgetting',
  everyMs: settings.purgeIntervalMs,
  batch: 10_000,
  steps: [
    async (batch) => {
      const stamp = await forgettingStore(db.sql).stampBefore(settings.tombstoneTtlMs);
      const dataset = await forgettingStore(db.sql).next(stamp);
      if (dataset === undefined) return 0;
      await write({ ...dataset, actor: 'system' }, async (tx) => {
        const store = forgettingStore(tx.sql);
        await store.lock(dataset);
        for (const { table, count, horizon_hlc } of await store.forget(dataset, stamp, batch))
          tx.emit('sync.tombstones.forgotten', table, { table, count, horizon_hlc });
      });
      // Another data set may have some, too.
      return batch;
    },
  ],
});
