import { createHash, randomBytes } from 'node:crypto';
import { cpSync, rmSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { inject } from 'vitest';
import { pino } from 'pino';
import { type Database, openDatabase } from '../db/index.ts';
import { engineMigrations, migrate, type Migrations, readMigrations } from '../db/migrate.ts';
import { createPool, type Pool } from '../db/sql.ts';
import { inDatabase } from './postgres.ts';

export interface TestDatabase extends Database {
  /** The options of `openDatabase`: enough to open the same database again, in this process or another. */
  readonly options: { readonly url: string | undefined; readonly dataDir: string };
  /** Closes the database and opens it again, as a restart of the server would; the old handle becomes unusable. */
  reopen(): Promise<TestDatabase>;
  /** Closes the database and removes it with its files. */
  close(): Promise<void>;
}

export interface TestDatabaseOptions {
  /** The services whose migrations to apply; the shared migrations are always applied. */
  services?: readonly string[];
  /** Migrations that belong to no service, for tests of the migration code itself. */
  migrations?: readonly Migrations[];
  log?: Parameters<typeof openDatabase>[0]['log'];
}

/**
 * Creates a migrated database on the engine of the vitest project, from a template that the run builds once. Close it in
 * `afterAll`; databases that are left open are removed at the end of the run.
 */
export async function testDatabase(options: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const log = options.log ?? pino({ level: 'silent' });
  const sets = [...(options.services ?? []).map(migrationsOf), ...(options.migrations ?? [])];
  const place = inject('engine') === 'postgres' ? await onServer(sets) : await inFolder(sets);
  return open(place, log);
}

/**
 * The compiled engine of PGlite. Node compiles a module once for all threads while somebody holds it; otherwise every test file would
 * compile nine megabytes again, which takes longer than most of its tests.
 */
const compiledEngine = inject('engine') === 'pglite' ? WebAssembly.compile(await engineFile()) : undefined;

function engineFile(): Promise<Buffer<ArrayBuffer>> {
  const entry = createRequire(import.meta.url).resolve('@electric-sql/pglite');
  return readFile(join(entry, '../pglite.wasm'));
}

interface Place {
  readonly url: string | undefined;
  readonly dataDir: string;
  readonly remove: () => Promise<void>;
}

async function open(place: Place, log: NonNullable<TestDatabaseOptions['log']>): Promise<TestDatabase> {
  const { url, dataDir } = place;
  // Tests run side by side, and the server has a hundred connections in all.
  const db = await openDatabase({ url, connections: 10, dataDir, log });
  return {
    ...db,
    options: { url, dataDir },
    async reopen() {
      await db.close();
      return open(place, log);
    },
    async close() {
      await db.close();
      await place.remove();
    },
  };
}

async function inFolder(sets: readonly Migrations[]): Promise<Place> {
  await compiledEngine;
  const dataDir = copyOf(await folderTemplate(sets));
  return { url: undefined, dataDir, remove: async () => rmSync(dataDir, { recursive: true, force: true }) };
}

/** A migrated database for server processes that a test starts itself. */
export interface ChildDatabase {
  /** The settings with which a process finds it: `PLINTH_DATA_DIR`, and on PostgreSQL `DATABASE_URL`. */
  readonly env: Readonly<{ PLINTH_DATA_DIR: string; DATABASE_URL?: string }>;
  /** The address of the database on PostgreSQL; undefined for the embedded one, which one process at a time can open. */
  readonly url: string | undefined;
  readonly remove: () => Promise<void>;
}

/** Creates a database with the tables of these services on the engine of the vitest project, and does not open it. */
export async function childDatabase(services: readonly string[]): Promise<ChildDatabase> {
  const sets = services.map(migrationsOf);
  const { url, dataDir, remove } =
    inject('engine') === 'postgres' ? await onServer(sets) : await inFolder(sets);
  return { env: { PLINTH_DATA_DIR: dataDir, ...(url !== undefined && { DATABASE_URL: url }) }, url, remove };
}

/** Creates a database on the server that has nothing in it, not even what all services share. */
export async function emptyDatabase(): Promise<{
  readonly url: string;
  readonly remove: () => Promise<void>;
}> {
  const name = `${inject('run')}_${randomBytes(4).toString('hex')}`;
  await withServer((pool) => pool`create database ${pool(name)}`);
  return {
    url: inDatabase(inject('databaseUrl'), name),
    remove: async () => {
      await withServer((pool) => pool`drop database if exists ${pool(name)} with (force)`);
    },
  };
}

/** Creates a data directory whose database has the tables of these services, for a server that a test starts itself. */
export const migratedFolder = async (services: readonly string[]): Promise<string> =>
  copyOf(await folderTemplate(services.map(migrationsOf)));

/** Copies at once: a thousand small files one after the other take a seventh of the time that promises of them take. */
function copyOf(template: string): string {
  const dataDir = join(runFolder(), randomBytes(6).toString('hex'));
  cpSync(template, dataDir, { recursive: true });
  return dataDir;
}

async function onServer(sets: readonly Migrations[]): Promise<Place> {
  const dataDir = join(runFolder(), randomBytes(6).toString('hex'));
  await mkdir(dataDir, { recursive: true });
  const name = `${inject('run')}_${randomBytes(4).toString('hex')}`;
  await withServer(async (pool) => {
    const template = await serverTemplate(pool, sets);
    await pool`create database ${pool(name)} template ${pool(template)}`;
  });
  const remove = async () => {
    await withServer((pool) => pool`drop database if exists ${pool(name)} with (force)`);
    await rm(dataDir, { recursive: true, force: true });
  };
  return { url: inDatabase(inject('databaseUrl'), name), dataDir, remove };
}

/** Two workers may build the same template at once: the first to put it in place wins, the other discards its copy. */
async function folderTemplate(sets: readonly Migrations[]): Promise<string> {
  const template = join(runFolder(), `template_${await digest(sets)}`);
  const exists = (await readdir(runFolder())).some((name) => template.endsWith(name));
  if (exists) return template;
  const draft = `${template}_${randomBytes(4).toString('hex')}`;
  // Creating an empty database takes longer than the migrations.
  if (sets.length > 0) cpSync(await folderTemplate([]), draft, { recursive: true });
  await build({ url: undefined, dataDir: draft }, sets);
  await rename(draft, template).catch(() => rm(draft, { recursive: true, force: true }));
  return template;
}

async function serverTemplate(pool: Pool, sets: readonly Migrations[]): Promise<string> {
  const template = `${inject('run')}_t${await digest(sets)}`;
  const [exists] = await pool`select from pg_database where datname = ${template}`;
  if (exists !== undefined) return template;
  const draft = `${inject('run')}_d${randomBytes(4).toString('hex')}`;
  await pool`create database ${pool(draft)}`;
  await build({ url: inDatabase(inject('databaseUrl'), draft), dataDir: runFolder() }, sets);
  await pool`alter database ${pool(draft)} rename to ${pool(template)}`.catch(
    () => pool`drop database ${pool(draft)}`,
  );
  return template;
}

async function build(
  place: { url: string | undefined; dataDir: string },
  sets: readonly Migrations[],
): Promise<void> {
  const log = pino({ level: 'silent' });
  const db = await openDatabase({ ...place, log });
  try {
    await migrate(db, sets, log);
  } finally {
    await db.close();
  }
}

async function digest(sets: readonly Migrations[]): Promise<string> {
  const hash = createHash('sha256');
  for (const { schema, id, checksum } of await readMigrations(sets))
    hash.update(`${schema}/${id}/${checksum}\n`);
  return hash.digest('hex').slice(0, 12);
}

async function withServer<T>(use: (pool: Pool) => Promise<T>): Promise<T> {
  const pool = createPool({ max: 1 }, inject('databaseUrl'));
  return use(pool).finally(() => pool.end());
}

const runFolder = () => inject('folder');

const migrationsOf = (name: string): Migrations =>
  name === engineMigrations.name
    ? engineMigrations
    : { name, migrations: new URL(`../services/${name}/migrations/`, import.meta.url) };
