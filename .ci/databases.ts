/** Databases for the scripts of this folder: on the PostgreSQL that tests use, else embedded ones. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPool } from '../src/db/sql.ts';
import { findPostgres, inDatabase } from '../src/testing/postgres.ts';

export interface Place {
  /** The settings of a server that keeps everything here. */
  readonly env: Readonly<Record<string, string>>;
  readonly engine: 'postgres' | 'embedded';
  remove(): Promise<void>;
}

/** The PostgreSQL that answers; undefined when there is none. */
export const server = await findPostgres();

/** An empty database on that server, and an empty data directory. */
export async function onServer(url: string, purpose: string): Promise<Place> {
  const embedded = await inFolder(purpose);
  const name = `plinth_${purpose}_${process.pid}_${Date.now()}`.replaceAll('-', '_');
  const admin = createPool({ max: 1 }, url);
  await admin.unsafe(`create database ${name}`);
  return {
    engine: 'postgres',
    env: { ...embedded.env, DATABASE_URL: inDatabase(url, name) },
    async remove() {
      await admin.unsafe(`drop database ${name} with (force)`);
      await admin.end();
      await embedded.remove();
    },
  };
}

/** An empty data directory, with nothing but the embedded database. */
export async function inFolder(purpose: string): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), `plinth-${purpose}-`));
  const data = join(folder, 'data');
  await mkdir(data);
  return {
    engine: 'embedded',
    env: { PLINTH_DATA_DIR: data, DATABASE_URL: '' },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
