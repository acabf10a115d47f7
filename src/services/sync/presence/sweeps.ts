import { staying, type Sweep } from '../../../db/sweeps.ts';
import type { Deps } from '../deps.ts';
import { presenceStore } from './presence.store.ts';

/** Every second, lets those leave who have not renewed their presence, and tells the streams of all processes. */
export const presenceSweep = ({ db, wake }: Pick<Deps, 'db' | 'wake'>): Sweep => ({
  name: 'sync.presence',
  everyMs: 1_000,
  batch: 1_000,
  steps: [
    staying(1_000, async () => {
      for (const dataset of await presenceStore(db.sql).expire(1_000)) wake(dataset);
    }),
  ],
});
