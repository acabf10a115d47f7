import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { migratedFolder, testDatabase } from './database.ts';

export type Surroundings = Awaited<ReturnType<typeof surroundings>>;

/** Creates what the processes of a test file share: a folder, and a database if the engine is a server. */
export async function surroundings() {
  const db =
    inject('engine') === 'postgres' ? await testDatabase({ services: ['authz', 'keys'] }) : undefined;
  const folder = await mkdtemp(join(tmpdir(), 'plinth-main-'));
  const withoutTables = () => ({
    PLINTH_DATA_DIR: join(folder, Math.random().toString(36).slice(2)),
    // All servers on one database share the master key.
    PLINTH_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    ...(db && { DATABASE_URL: db.options.url! }),
  });
  return {
    folder,
    /** The URL of the database. The embedded engine has none. */
    databaseUrl: db?.options.url,
    /** The environment of a process: the database of this engine, with its tables, and a data directory of its own. */
    environment: async () => ({
      ...withoutTables(),
      ...(db ? {} : { PLINTH_DATA_DIR: await migratedFolder(['auth', 'authz', 'keys']) }),
    }),
    /** The same with an empty data directory. */
    withoutTables,
    async close() {
      await db?.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
