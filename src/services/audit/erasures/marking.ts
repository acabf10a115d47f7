import type { Database } from '../../../db/index.ts';
import type { Sweep } from '../../../db/sweeps.ts';
import { erasureStore } from './erasures.store.ts';

/** The events that one statement marks. */
const mostAtOnce = 1_000;

/** Marks the events of erased persons. From the erasure on nobody can read their parts; this makes that nothing finds them either. */
export const markingSweep = ({ db }: { readonly db: Database }): Sweep => ({
  name: 'audit.erasures',
  everyMs: 10_000,
  batch: mostAtOnce,
  steps: [(most) => markSome(db, most)],
});

/** Returns `most` while there may be more to mark. */
export function markSome(db: Database, most: number = mostAtOnce): Promise<number> {
  return db.transaction(async (sql) => {
    const store = erasureStore(sql);
    const erasure = await store.unmarked();
    if (erasure === undefined) return 0;
    if ((await store.mark(erasure, most)) < most) await store.finish(erasure);
    return most;
  });
}
