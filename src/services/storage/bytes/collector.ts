import type { Database } from '../../../db/index.ts';
import type { Sweep } from '../../../db/sweeps.ts';
import type { Settings } from '../settings.ts';
import { blobStore } from './blobs.store.ts';
import type { BytesDriver } from './driver.ts';
import { metaStore } from './meta.store.ts';

export interface CollectorDeps {
  readonly db: Database;
  readonly driver: BytesDriver;
  readonly settings: Settings;
}

/** The most unknown files that are looked up at once. */
const mostLookedUp = 500;

/** Deletes blobs to which nothing points: the bytes first and then the row, so that no row is ever without its bytes. */
export const collector = ({ db, driver, settings }: CollectorDeps): Sweep => ({
  name: 'storage.garbage',
  everyMs: 30_000,
  batch: 500,
  steps: [
    (batch) =>
      db.transaction(async (sql) => {
        const locked = await blobStore(sql).lockGarbage(settings.gcGraceMs, batch);
        if (locked.length > 0) await blobStore(sql).condemn(locked, settings.gcGraceMs);
        return locked.length;
      }),
    async (batch) => {
      const condemned = await blobStore(db.sql).condemned(batch);
      if (condemned.length === 0) return 0;
      await driver.delete(condemned.filter(({ is_file }) => is_file).map(({ id }) => id));
      await blobStore(db.sql).forget(condemned);
      return condemned.length;
    },
  ],
});

/** Deletes files that no blob has: those of requests and commits that were cut off. One of the shards is looked at each time. */
export const orphanSweep = ({ db, driver, settings }: CollectorDeps): Sweep => ({
  name: 'storage.orphans',
  everyMs: 60_000,
  batch: 1,
  steps: [
    async () => {
      await sweepShard({ db, driver, settings }, await metaStore(db.sql).nextShard());
      return 0;
    },
  ],
});

export async function sweepShard({ db, driver, settings }: CollectorDeps, shard: number): Promise<void> {
  let old: string[] = [];
  const flush = async () => {
    await driver.delete(await blobStore(db.sql).unknown(old));
    old = [];
  };
  for await (const found of driver.list(shard)) {
    if (found.ageMs > settings.orphanGraceMs) old.push(found.id);
    if (old.length >= mostLookedUp) await flush();
  }
  if (old.length > 0) await flush();
}
