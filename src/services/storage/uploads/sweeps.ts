import type { Database } from '../../../db/index.ts';
import type { Sweep } from '../../../db/sweeps.ts';
import type { Settings } from '../settings.ts';
import { defaultQuota } from '../usage.ts';
import { uploadStore } from './uploads.store.ts';

/** The number of parts that one statement deletes, about: an upload with more is deleted as a whole. */
const partsAtOnce = 10_000;

/** Ends uploads that have expired, and forgets those that ended a day ago. */
export const uploadSweep = ({
  db,
  settings,
}: {
  readonly db: Database;
  readonly settings: Settings;
}): Sweep => ({
  name: 'storage.uploads',
  everyMs: 60_000,
  batch: 500,
  steps: [
    // Each statement ends uploads of one bucket, so that others may follow whenever there were any.
    async (batch) =>
      (await uploadStore(db.sql).expire(batch, partsAtOnce, defaultQuota(settings))) > 0 ? batch : 0,
    (batch) => uploadStore(db.sql).deleteEnded(batch),
  ],
});
