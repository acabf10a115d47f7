/** The set-up that most measurements of the jobs share. */
import { tmpdir } from 'node:os';
import { type Database, openDatabase } from '../../src/db/index.ts';
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

/** Brings the statistics up to date, so that no statement is planned for an empty table. */
export async function analyze({ sql }: Pick<Database, 'sql'>): Promise<void> {
  await sql.unsafe('vacuum analyze');
}
