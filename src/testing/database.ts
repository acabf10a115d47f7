import { createHash, randomBytes } from 'node:crypto';
import { cp, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { pino } from 'pino';
import { type Database, openDatabase } from '../db/index.ts';
import { migrate, type Migrations, readMigrations } from '../db/migrate.ts';
import { createPool, type Pool } from '../db/sql.ts';
import { inDatabase } from './postgres.ts';

export interface TestDatabase extends Database {
  /** What `openDatabase` was given: enough to open the same database again, in this process or another. */
  readonly options: { readonly url: string | undefined; readonly dataDir: string };
  /** Closes and opens it again, as a restart of the server would; the old handle is dead. */
  reopen(): Promise<TestDatabase>;
  /** Closes it and removes the database and its files. */
  close(): Promise<void>;
}

export interface TestDatabaseOptions {
  /** The services whose migrations it has; the shared ones are always there. */
  services?: readonly string[];
  /** Migrations that are no service's, for tests of the machinery itself. */
  migrations?: readonly Migrations[];
  log?: Parameters<typeof openDatabase>[0]['log'];
}

/**
 * A fresh, migrated database on the engine of the vitest project, made from a template that the run builds once. Close it in
 * `afterAll`; what is left open is removed at the end of the run.
 */
export async function testDatabase(options: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const log = options.log ?? pino({ level: 'silent' });
  const sets = [...(options.services ?? []).map(migrationsOf), ...(options.migrations ?? [])];
  const place = inject('engine') === 'postgres' ? await onServer(sets) : await inFolder(sets);
  return open(place, log);
}

interface Place {
  url: string | undefined;
  dataDir: string;
  remove(): Promise<void>;
}

async function open(place: Place, log: NonNullable<TestDatabaseOptions['log']>): Promise<TestDatabase> {
  const { url, dataDir } = place;
  const db = await openDatabase({ url, dataDir, log });
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
  const template = await folderTemplate(sets);
  const dataDir = join(runFolder(), randomBytes(6).toString('hex'));
  await cp(template, dataDir, { recursive: true });
  return { url: undefined, dataDir, remove: () => rm(dataDir, { recursive: true, force: true }) };
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

/** Two workers may build the same template at once: the first to put it in place wins, the other throws its own away. */
async function folderTemplate(sets: readonly Migrations[]): Promise<string> {
  const template = join(runFolder(), `template_${await digest(sets)}`);
  const exists = (await readdir(runFolder())).some((name) => template.endsWith(name));
  if (exists) return template;
  const draft = `${template}_${randomBytes(4).toString('hex')}`;
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
  const pool = createPool({ max: 1, fetch_types: false }, inject('databaseUrl'));
  return use(pool).finally(() => pool.end());
}

const runFolder = () => join(tmpdir(), inject('run'));

const migrationsOf = (name: string): Migrations => ({
  name,
  migrations: new URL(`../services/${name}/migrations/`, import.meta.url),
});
