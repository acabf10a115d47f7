/** Databases for the benchmark: on this machine's PostgreSQL if one answers, else embedded. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { loadServices, serviceNames } from '../src/app.ts';
import { type Database, openDatabase } from '../src/db/index.ts';
import { migrate } from '../src/db/migrate.ts';
import { createPool } from '../src/db/sql.ts';
import { findPostgres, inDatabase } from '../src/testing/postgres.ts';
import { type Running, start } from './process.ts';

export const token = 'root-token-of-the-benchmark-0123456789';
export const headers = { Authorization: `Bearer ${token}` };
export const log = pino({ level: 'error' }, process.stderr);

/** A database with the tables of all services. Only one process at a time can open an embedded one. */
export interface Place {
  /** Undefined when embedded. */
  readonly url: string | undefined;
  /** Opens the database in this process while `work` runs. */
  use<Result>(work: (db: Database) => Promise<Result>): Promise<Result>;
  /** Starts a server on the database. */
  serve(env?: Record<string, string>): Promise<Running>;
  remove(): Promise<void>;
}

const places = new Set<Place>();

export async function createPlace(): Promise<Place> {
  const dataDir = await mkdtemp(join(tmpdir(), 'plinth-bench-'));
  const server = await findPostgres();
  const name = `plinth_bench_${process.pid}_${randomBytes(4).toString('hex')}`;
  if (server !== undefined) {
    await removeOrphans(server);
    await onServer(server, (sql) => sql`create database ${sql(name)}`);
  }
  const url = server === undefined ? undefined : inDatabase(server, name);

  const use: Place['use'] = async (work) => {
    const db = await openDatabase({ url, dataDir, log });
    return work(db).finally(() => db.close());
  };
  const place: Place = {
    url,
    use,
    serve: (env = {}) =>
      start('plinth', [], {
        DATABASE_URL: url ?? '',
        PLINTH_DATA_DIR: dataDir,
        PLINTH_SERVICES: serviceNames.join(','),
        PLINTH_ROOT_TOKEN: token,
        ...env,
      }),
    async remove() {
      places.delete(place);
      if (server !== undefined)
        await onServer(server, (sql) => sql`drop database if exists ${sql(name)} with (force)`);
      await rm(dataDir, { recursive: true, force: true });
    },
  };
  places.add(place);
  const modules = await loadServices(serviceNames);
  await use((db) => migrate(db, modules, pino({ level: 'silent' })));
  return place;
}

/** Runs `use` on a new database, and always removes it afterwards. */
export async function* withPlace<Value>(use: (place: Place) => AsyncIterable<Value>): AsyncGenerator<Value> {
  const place = await createPlace();
  try {
    yield* use(place);
  } finally {
    await place.remove();
  }
}

/** Removes the remaining databases when the run is interrupted. */
export const removePlaces = () => Promise.allSettled([...places].map((place) => place.remove()));

/** Drops the databases of killed runs: their process no longer exists, and they have no connections. */
async function removeOrphans(server: string): Promise<void> {
  await onServer(server, async (sql) => {
    const rows = await sql<{ name: string }[]>`
      select datname as name
      from pg_database
      where datname like 'plinth\\_bench\\_%'
        and not exists (select from pg_stat_activity where pg_stat_activity.datname = pg_database.datname)`;
    for (const { name } of rows)
      if (!isRunning(Number(name.split('_')[2]))) await sql`drop database if exists ${sql(name)}`;
  });
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function onServer(
  url: string,
  run: (sql: ReturnType<typeof createPool>) => Promise<unknown>,
): Promise<void> {
  const pool = createPool({ max: 1, fetch_types: false }, url);
  await run(pool).finally(() => pool.end());
}
