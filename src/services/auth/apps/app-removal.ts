import type { Database, Sql } from '../../../db/index.ts';
import type { Sweep } from '../../../db/sweeps.ts';
import { appRemovalStore, type DeletedApp } from './app-removal.store.ts';

/** Removes every deleted app with all its records, soon after its deletion. */
export const appRemoval = (db: Database): Sweep => ({
  name: 'auth.app-removal',
  everyMs: 60_000,
  batch: 500,
  steps: [(batch) => removeSome(db, batch)],
});

/** Returns a full batch while there may be more to remove, of this app or another. */
async function removeSome(db: Database, batch: number): Promise<number> {
  const app = await appRemovalStore(db.sql).find();
  if (!app) return 0;
  const removed = await db.transaction((sql) => removeRecords(sql, app, batch));
  if (removed < batch) await db.transaction((sql) => appRemovalStore(sql).removeApp(app));
  return batch;
}

/** Runs one step; returns how many records of the most frequent kind it removed. */
async function removeRecords(sql: Sql, app: DeletedApp, batch: number): Promise<number> {
  const store = appRemovalStore(sql);
  return Math.max(
    await store.removeUsers(app, batch),
    await store.removeClients(app, batch),
    await store.removeRecords(app, batch),
  );
}
