import type { Database, Log, Sql } from '../../db/index.ts';
import { periodic } from '../../db/periodic.ts';
import { appRemovalStore, type DeletedApp } from './app-removal.store.ts';

/** Records of one transaction. */
const batch = 500;
const everyMs = 60_000;

/** Removes what deleted apps leave behind, soon after they were deleted. */
export const startAppRemoval = ({ db, log }: { db: Database; log: Log }) =>
  periodic({ db, log, everyMs, name: 'auth.app-removal', run: (signal) => removeDeletedApps(db, signal) });

/** Removes every deleted app with everything in it, in steps that may be cut off and repeated. */
export async function removeDeletedApps(db: Database, signal?: AbortSignal): Promise<void> {
  for (;;) {
    const app = await appRemovalStore(db.sql).find();
    if (!app || signal?.aborted) return;
    const removed = await db.transaction((sql) => removeSome(sql, app));
    if (removed < batch) await db.transaction((sql) => appRemovalStore(sql).removeApp(app));
  }
}

/** One step; answers how many records of the most frequent kind it removed. */
async function removeSome(sql: Sql, app: DeletedApp): Promise<number> {
  const store = appRemovalStore(sql);
  return Math.max(
    await store.removeUsers(app, batch),
    await store.removeClients(app, batch),
    await store.removeRecords(app, batch),
  );
}
