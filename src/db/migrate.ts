import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type { Database } from './index.ts';
import type { Log } from './log.ts';
import type { Sql } from './sql.ts';
import { declarationFile, isStandard, standardFiles } from './standard-tables.ts';

/**
 * The part of `ServiceModule` for migrations: `name` is the schema, the folder holds `0001_<what>.sql`, `0002_<what>.sql`, … and
 * `standard-tables.json`, which names those of the tables in `src/db/standard-tables` that the service has: `["outbox"]`.
 */
export interface Migrations {
  readonly name: string;
  readonly migrations: URL;
}

/** The migrations of the tables that all services share (schema `plinth`). They always run. */
export const sharedMigrations: Migrations = {
  name: 'plinth',
  migrations: new URL('./migrations/', import.meta.url),
};

/** The migrations of the background jobs (schema `jobs`). They always run too, because every service may enqueue jobs. */
export const engineMigrations: Migrations = {
  name: 'jobs',
  migrations: new URL('./engine/migrations/', import.meta.url),
};

/** The database and the code do not match. The message is a sentence for the operator. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}

export interface Migration {
  readonly schema: string;
  /** The file's name without `.sql`. */
  readonly id: string;
  readonly text: string;
  readonly checksum: string;
}

type Applied = Pick<Migration, 'schema' | 'id' | 'checksum'>;

/**
 * Brings the schemas of these services up to date, each file in a transaction of its own, and returns how many files were
 * applied. Any number of processes may do so at once. Throws a `MigrationError` when the database was migrated by newer code,
 * when a file was changed after it had been applied, or when a new file sorts before an applied one.
 */
export async function migrate(db: Database, services: readonly Migrations[], log: Log): Promise<number> {
  const files = await readMigrations(services);
  const pending = pendingOf(files, await readApplied(db.sql, schemasOf(files)));
  let count = 0;
  for (const migration of pending) {
    if (!(await db.maintenance((sql) => apply(sql, migration)))) continue;
    log.info({ schema: migration.schema, migration: migration.id }, 'migrated');
    count++;
  }
  // Migrations that other processes applied meanwhile may come from newer code.
  if (pending.length > 0) pendingOf(files, await readApplied(db.sql, schemasOf(files)));
  return count;
}

/** How many files `migrate` would apply. Throws a `MigrationError` as it would. */
export async function pendingMigrations(db: Database, services: readonly Migrations[]): Promise<number> {
  const files = await readMigrations(services);
  return pendingOf(files, await readApplied(db.sql, schemasOf(files))).length;
}

/** The files of the shared schemas and of these services, each after its standard tables, in the order in which they run. */
export async function readMigrations(services: readonly Migrations[]): Promise<Migration[]> {
  // The service `jobs` may name the engine's migrations as its own.
  const others = services.filter(({ migrations }) => migrations.href !== engineMigrations.migrations.href);
  const all = await Promise.all([sharedMigrations, engineMigrations, ...others].map(readFolder));
  return all.flat();
}

/** Returns the files that have to run. Throws a `MigrationError` when the files do not match what was applied. */
export function pendingOf(files: readonly Migration[], applied: readonly Applied[]): Migration[] {
  const known = new Map(files.map((file) => [`${file.schema}/${file.id}`, file]));
  for (const { schema, id, checksum } of applied) {
    const file = known.get(`${schema}/${id}`);
    if (file === undefined) {
      throw new MigrationError(
        `the database has migration ${schema}/${id}, which this version of Plinth does not know: start the version that made it, or a newer one`,
      );
    }
    if (file.checksum !== checksum) {
      throw new MigrationError(
        `migration ${schema}/${id} was changed after it had been applied: restore the file and add a new one`,
      );
    }
  }
  const done = new Set(applied.map(({ schema, id }) => `${schema}/${id}`));
  const pending = files.filter(({ schema, id }) => !done.has(`${schema}/${id}`));
  for (const { schema, id } of pending.filter((file) => !isStandard(file))) {
    const later = applied.find((other) => other.schema === schema && other.id > id);
    if (later === undefined) continue;
    throw new MigrationError(
      `migration ${schema}/${id} sorts before ${later.id}, which was applied already: give it a later number`,
    );
  }
  return pending;
}

/** Runs one file unless another process has run it meanwhile. An advisory lock makes the processes wait for each other. */
async function apply(sql: Sql, { schema, id, text, checksum }: Migration): Promise<boolean> {
  await sql.unsafe(`
    select pg_advisory_xact_lock(${lockKey});
    create schema if not exists "${schema}";
    create table if not exists "${schema}".migrations (
      id text not null,
      checksum text not null,
      applied_at timestamptz(3) not null default now(),
      constraint migrations_pkey primary key (id)
    );
  `);
  const inserted = await sql`
    insert into ${sql(`${schema}.migrations`)} (id, checksum) values (${id}, ${checksum})
    on conflict do nothing
    returning id
  `;
  if (inserted.length === 0) return false;
  await sql.unsafe(text);
  return true;
}

async function readApplied(sql: Sql, schemas: readonly string[]): Promise<Applied[]> {
  const tables = await sql<{ schema: string }[]>`
    select schemaname as schema from pg_tables where tablename = 'migrations' and schemaname = any(${schemas as string[]}::text[])
  `;
  if (tables.length === 0) return [];
  const parts = tables.map(
    ({ schema }) => sql`select ${schema}::text as schema, id, checksum from ${sql(`${schema}.migrations`)}`,
  );
  return sql<Applied[]>`${parts.flatMap((part, index) => (index === 0 ? [part] : [sql`union all`, part]))}`;
}

async function readFolder({ name, migrations }: Migrations): Promise<Migration[]> {
  const names = await readdir(migrations);
  const read = async (file: string) =>
    (await readFile(new URL(file, migrations), 'utf8')).replaceAll('\r\n', '\n');
  const own = await Promise.all(
    names
      .filter((file) => file.endsWith('.sql'))
      .sort()
      .map(async (file) => ({ id: file.slice(0, -4), text: await read(file) })),
  );
  const declared = names.includes(declarationFile)
    ? (JSON.parse(await read(declarationFile)) as unknown)
    : [];
  return [...(await standardFiles(name, declared, own)), ...own].map(({ id, text }) => ({
    schema: name,
    id,
    text,
    checksum: createHash('sha256').update(text).digest('hex'),
  }));
}

const schemasOf = (files: readonly Migration[]) => [...new Set(files.map(({ schema }) => schema))];

/** An arbitrary number that no other advisory lock uses. */
const lockKey = 7_163_528_467_391;
