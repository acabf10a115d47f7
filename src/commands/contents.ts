/** What a backup holds: where the server keeps it, and under which names it stands in the archive. */
import { isAbsolute, relative, resolve } from 'node:path';
import type { Config } from '../config.ts';
import { engineMigrations, sharedMigrations } from '../db/migrate.ts';
import type { ServiceModule } from '../http/service.ts';
import { UsageError } from '../sentence.ts';

export const names = {
  /** What the archive is; the first member. */
  manifest: 'plinth-backup.json',
  /** The database, as `pg_dump --format=custom` writes it; absent with the embedded one, whose files are in the data directory. */
  dump: 'database.dump',
  data: 'data',
  /** The bytes of objects, when they are not in the data directory. */
  storage: 'storage',
} as const;

export interface Manifest {
  readonly format: 1;
  readonly engine: 'pglite' | 'postgres';
  readonly created_at: string;
}

/** A server that is saved or restored: its configuration and the modules of all services. */
export interface Subject {
  readonly config: Config;
  readonly modules: readonly ServiceModule[];
}

const engineOf = ({ databaseUrl }: Config): Manifest['engine'] =>
  databaseUrl === undefined ? 'pglite' : 'postgres';

export const manifestOf = (config: Config): Manifest => ({
  format: 1,
  engine: engineOf(config),
  created_at: new Date().toISOString(),
});

/** Throws a `UsageError` when the archive is not a backup that this server can take. */
export function checkManifest(text: string, config: Config): void {
  const manifest = manifestIn(text);
  if (manifest?.format !== 1)
    throw new UsageError('The file is not a backup, or that of a newer version of Plinth.');
  if (manifest.engine === engineOf(config)) return;
  throw new UsageError(
    manifest.engine === 'postgres'
      ? 'The backup is of a PostgreSQL database. Set DATABASE_URL to an empty one.'
      : 'The backup is of an embedded database. Unset DATABASE_URL.',
  );
}

function manifestIn(text: string): Partial<Manifest> | undefined {
  try {
    return JSON.parse(text) as Partial<Manifest>;
  } catch {
    return undefined;
  }
}

/** The schemas of all services, also of those that this server does not serve. */
export const schemasOf = (modules: readonly ServiceModule[]): string[] => [
  ...new Set([sharedMigrations.name, engineMigrations.name, ...modules.map(({ name }) => name)]),
];

/** Where the bytes of objects are, when that is not in the data directory. */
export function ownStorageDir({ config, modules }: Subject): string | undefined {
  const storage = modules.find(({ name }) => name === 'storage');
  const dir = storage && config.settingsOf(storage)['dir'];
  if (typeof dir !== 'string' || dir === '') return undefined;
  const way = relative(resolve(config.dataDir), resolve(dir));
  return way.startsWith('..') || isAbsolute(way) ? dir : undefined;
}
