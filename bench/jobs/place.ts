/** The set-up that most measurements of the jobs share. */
import { tmpdir } from 'node:os';
import { type Database, openDatabase } from '../../src/db/index.ts';
import { createPool } from '../../src/db/sql.ts';
import { log, type Place, withPlace } from '../place.ts';
import { notMeasured, type Row } from '../row.ts';

/** A new database on a server, opened in this process. */
export interface Opened {
  readonly db: Database;
  readonly url: string;
  readonly place: Place;
}

/**
 * Runs `use` on a new database of a server: the embedded database has only one process, and no library that the engine is
 * compared with can use it.
 */
export function onServer(
  path: string,
  target: string,
  use: (opened: Opened) => AsyncIterable<Row>,
): AsyncIterable<Row> {
  return withPlace(async function* (place) {
    const { url } = place;
    if (url === undefined) {
      yield notMeasured(path, target, 'it needs a PostgreSQL server');
      return;
    }
    const db = await openDatabase({ url, dataDir: tmpdir(), log });
    try {
      yield* use({ db, url, place });
    } finally {
      await db.close();
    }
  });
}

/**
 * Brings the statistics up to date, so that no statement is planned for an empty table. Its own connection has no time limit, which
 * a million rows would exceed, and `vacuum` cannot run in a transaction.
 */
export async function analyze({ sql, url }: Pick<Database, 'sql' | 'url'>): Promise<void> {
  if (url === undefined) return void (await sql.unsafe('vacuum analyze'));
  const patient = createPool({ max: 1, fetch_types: false }, url);
  await patient.unsafe('vacuum analyze').finally(() => patient.end());
}
