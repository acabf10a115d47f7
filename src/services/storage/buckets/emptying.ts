import type { Sweep } from '../../../db/sweeps.ts';
import type { Database, Sql } from '../../../db/index.ts';
import { emptyingStore, type Emptied } from './emptying.store.ts';

/**
 * Removes what deleted buckets held, and then their rows. A bucket that was empty is removed in the same way, because an upload that has
 * expired may still have parts.
 */
export const emptying = ({ db }: { readonly db: Database }): Sweep => ({
  name: 'storage.emptying',
  everyMs: 5_000,
  batch: 1_000,
  steps: [
    async (batch) => {
      const [bucket] = await emptyingStore(db.sql).hidden(1);
      return bucket === undefined ? 0 : await db.transaction((sql) => step(sql, bucket, batch));
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
