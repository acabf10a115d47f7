import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { createPool, type Pool } from '../db/sql.ts';
import { findPostgres } from './postgres.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The engine of the project: `pglite` or `postgres`. */
    engine: 'pglite' | 'postgres';
    /** The server on which databases are created; empty for PGlite. */
    databaseUrl: string;
    /** The prefix of the names of everything that this run creates: `plinth_test_<process>_<random>`. */
    run: string;
    /** The folder of the run's data directories. */
    folder: string;
  }
}

/** Prepares a run, and removes what interrupted runs have left behind. Afterwards it removes what the run created. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const number = randomBytes(4).readUInt32BE();
  const run = `plinth_test_${process.pid}_${number}`;
  const place = await fastFolder();
  const folder = join(place, run);
  await mkdir(folder, { mode: 0o700 });
  await removeDeadFolders(place);
  project.provide('run', run);
  project.provide('folder', folder);
  process.env['TEST_COMPILED_MODULES'] = join(folder, 'compiled');

  const url = await findPostgres();
  const pool = url === undefined ? undefined : createPool({ max: 1, max_lifetime: null }, url);
  if (pool !== undefined) {
    await pool`select pg_advisory_lock(${lockClass}, ${number | 0})`;
    await dropDeadDatabases(pool);
  }
  say(url);

  return async () => {
    // A process that ends just now may still write into it.
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
    if (pool !== undefined) {
      for (const name of await databasesLike(pool, run)) await drop(pool, name);
      await pool.end({ timeout: 5 });
    }
    say(url);
  };
}

/** A live run holds the lock with its number while it is connected, on any machine. */
const lockClass = 1_886_153_326;

function say(url: string | undefined): void {
  const where =
    url === undefined ? 'skipped: no PostgreSQL answers on 127.0.0.1:5432' : `on ${new URL(url).host}`;
  console.log(`Engines: pglite; postgres ${where}`);
}

async function dropDeadDatabases(pool: Pool): Promise<void> {
  for (const name of await databasesLike(pool, 'plinth_test_')) {
    const number = Number(/^plinth_test_\d+_(\d+)/.exec(name)?.[1]) | 0;
    const [row] = await pool<{ dead: boolean }[]>`
      select not exists (
        select from pg_locks where locktype = 'advisory' and classid = ${lockClass}::bigint::oid and objid = ${number >>> 0}::bigint::oid
      ) as dead
    `;
    if (row?.dead) await drop(pool, name);
  }
}

async function databasesLike(pool: Pool, prefix: string): Promise<string[]> {
  const rows = await pool<
    { name: string }[]
  >`select datname as name from pg_database where starts_with(datname, ${prefix}) order by datname`;
  return rows.map(({ name }) => name);
}

async function drop(pool: Pool, name: string): Promise<void> {
  await pool`drop database if exists ${pool(name)} with (force)`;
}

/** Memory, where the system offers enough of it as files: the data directories of a run are written and copied all the time. */
async function fastFolder(): Promise<string> {
  const { bavail, bsize } = await statfs('/dev/shm').catch(() => ({ bavail: 0, bsize: 0 }));
  return bavail * bsize >= 4 * 2 ** 30 ? '/dev/shm' : tmpdir();
}

async function removeDeadFolders(place: string): Promise<void> {
  for (const name of await readdir(place)) {
    const pid = Number(/^plinth_test_(\d+)_\d+$/.exec(name)?.[1]);
    if (Number.isNaN(pid) || isRunning(pid)) continue;
    await rm(join(place, name), { recursive: true, force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
