import { setTimeout as delay } from 'node:timers/promises';
import type { Sweep } from '../../../db/sweeps.ts';
import type { Database, Sql } from '../../../db/index.ts';
import { emptyingStore, type Emptied } from './emptying.store.ts';

/** Between two steps it rests so many times as long as a step took: nobody waits for it, and others use the same database. */
const rest = 3;

/**
 * Removes what deleted buckets held, and then their rows. A bucket that was empty is removed in the same way, because an upload that has
 * expired may still have parts.
 */
export const emptying = ({ db }: { readonly db: Database }): Sweep => ({
  name: 'storage.emptying',
  everyMs: 5_000,
  batch: 500,
  steps: [
    async (batch, signal) => {
      const [bucket] = await emptyingStore(db.sql).hidden(1);
      if (bucket === undefined) return 0;
      const began = performance.now();
      const removed = await db.transaction((sql) => step(sql, bucket, batch));
      await delay(rest * (performance.now() - began), undefined, { signal, ref: false }).catch(() => {});
      return removed;
    },
  ],
});

/** Removes up to `batch` objects or uploads. Returns `batch` unless nothing is left to do. */
async function step(sql: Sql, bucket: Emptied, batch: number): Promise<number> {
  const store = emptyingStore(sql);
  if (!(await store.lock(bucket))) return 0;
  const removed = (await store.dropObjects(bucket, batch)) + (await store.dropUploads(bucket, batch));
  if (removed === 0) await store.drop(bucket);
  return batch;
}
