import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type { Database } from './index.ts';
import type { Log } from './log.ts';
import type { Sql } from './sql.ts';

/** What `ServiceModule` has: the name is the schema, the folder holds `0001_<what>.sql`, `0002_<what>.sql`, … */
export interface Migrations {
  readonly name: string;
  readonly migrations: URL;
}

/** The migrations of what all services share (schema `plinth`). They always run. */
export const sharedMigrations: Migrations = {
  name: 'plinth',
  migrations: new URL('./migrations/', import.meta.url),
};

/** The database and the code do not fit together. The message is a sentence for the operator. */
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
 * applied. Any number of processes may do so at once. Throws a `MigrationError` when the database was migrated by newer code
 * or a file was changed after it had been applied.
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
  // What other processes applied meanwhile may come from newer code.
  if (pending.length > 0) pendingOf(files, await readApplied(db.sql, schemasOf(files)));
  return count;
}

/** The files of the shared schema and of these services, in the order in which they run. */
export async function readMigrations(services: readonly Migrations[]): Promise<Migration[]> {
  const all = await Promise.all([sharedMigrations, ...services].map(readFolder));
  return all.flat();
}

/** Which of the files have to run. Throws when the database holds what the files do not explain. */
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
  for (const { schema, id } of pending) {
    const later = applied.find((other) => other.schema === schema && other.id > id);
    if (later === undefined) continue;
    throw new MigrationError(
      `migration ${schema}/${id} sorts before ${later.id}, which was applied already: give it a later number`,
    );
  }
  return pending;
}

/** Runs one file unless another process has, meanwhile. The transaction's lock makes the processes wait for each other. */
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
  const names = (await readdir(migrations)).filter((file) => file.endsWith('.sql')).sort();
  return Promise.all(
    names.map(async (file) => {
      const text = (await readFile(new URL(file, migrations), 'utf8')).replaceAll('\r\n', '\n');
      return {
        schema: name,
        id: file.slice(0, -4),
        text,
        checksum: createHash('sha256').update(text).digest('hex'),
      };
    }),
  );
}

const schemasOf = (files: readonly Migration[]) => [...new Set(files.map(({ schema }) => schema))];

/** Any number will do, as long as nobody else locks the same. */
const lockKey = 7_163_528_467_391;
