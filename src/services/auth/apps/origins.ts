import type { Changes } from '../../../db/changes.ts';
import type { Database, Log } from '../../../db/index.ts';
import { appStore } from '../directory/apps.store.ts';

/** The origins whose pages may call the service: those of all apps, in memory. */
export interface Origins {
  has(origin: string): boolean;
  load(): Promise<void>;
}

/** Reloads the origins after each change of an app. If a reload fails, the known origins stay until the next change. */
export function createOrigins({
  db,
  changes,
  log,
}: {
  db: Database;
  changes: Pick<Changes, 'subscribe'>;
  log: Log;
}): Origins {
  let known: ReadonlySet<string> = new Set();
  let asked = 0;

  async function load(): Promise<void> {
    const turn = (asked += 1);
    const origins = await appStore(db.sql).origins();
    // A slow read must not replace the result of a later one.
    if (turn === asked) known = new Set(origins);
  }

  changes.subscribe((change) => {
    if (change !== 'all' && change.kind !== 'app') return;
    load().catch((error: unknown) => log.warn({ err: error }, 'the origins of the apps were not read'));
  });
  return { has: (origin) => known.has(origin), load };
}
