import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { createPool, type Pool } from '../db/sql.ts';
import { findPostgres } from './postgres.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The engine of the project: `pglite` or `postgres`. */
    engine: 'pglite' | 'postgres';
    /** The server that databases are made in; empty for PGlite. */
    databaseUrl: string;
    /** Names everything that this run makes: `plinth_test_<process>_<random>`. */
    run: string;
  }
}

/** Prepares a run, removes what it made afterwards, and what runs that were interrupted have left behind. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const number = randomBytes(4).readUInt32BE();
  const run = `plinth_test_${process.pid}_${number}`;
  const folder = join(tmpdir(), run);
  await mkdir(folder, { mode: 0o700 });
  await removeDeadFolders();
  project.provide('run', run);

  const url = await findPostgres();
  const pool =
    url === undefined ? undefined : createPool({ max: 1, max_lifetime: null, fetch_types: false }, url);
  if (pool !== undefined) {
    await pool`select pg_advisory_lock(${lockClass}, ${number | 0})`;
    await dropDeadDatabases(pool);
  }
  say(url);

  return async () => {
    await rm(folder, { recursive: true, force: true });
    if (pool !== undefined) {
      for (const name of await databasesLike(pool, run)) await drop(pool, name);
      await pool.end({ timeout: 5 });
    }
    say(url);
  };
}

/** A live run holds the lock with its number for as long as it is connected, wherever it runs. */
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

async function removeDeadFolders(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const pid = Number(/^plinth_test_(\d+)_\d+$/.exec(name)?.[1]);
    if (Number.isNaN(pid) || isRunning(pid)) continue;
    await rm(join(tmpdir(), name), { recursive: true, force: true });
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
