import type { Changes } from '../../db/changes.ts';
import type { Database, Log } from '../../db/index.ts';
import { appStore } from './apps.store.ts';

/** Whose pages may call: the origins of all apps, in memory. */
export interface Origins {
  has(origin: string): boolean;
  load(): Promise<void>;
}

/** They are read again after each change of an app. Where that fails, those that were known stay known until the next change. */
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
    // A slow read must not replace what a later one found.
    if (turn === asked) known = new Set(origins);
  }

  changes.subscribe((change) => {
    if (change !== 'all' && change.kind !== 'app') return;
    load().catch((error: unknown) => log.warn({ err: error }, 'the origins of the apps were not read'));
  });
  return { has: (origin) => known.has(origin), load };
}
