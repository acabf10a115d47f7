import { createPool } from '../db/sql.ts';

const loopback = 'postgres://postgres@127.0.0.1:5432/postgres';

/**
 * The PostgreSQL that tests may make databases in: TEST_DATABASE_URL, which then has to answer, or the one on the loopback port,
 * if there is one that lets us in.
 */
export async function findPostgres(): Promise<string | undefined> {
  const named = process.env['TEST_DATABASE_URL'];
  const url = named || loopback;
  const pool = createPool({ max: 1, connect_timeout: 3, fetch_types: false }, url);
  try {
    await pool`select 1`;
    return url;
  } catch (cause) {
    if (named) throw new Error(`no PostgreSQL answers at TEST_DATABASE_URL`, { cause });
    return undefined;
  } finally {
    await pool.end({ timeout: 1 });
  }
}

/** The same server, another database. */
export function inDatabase(url: string, name: string): string {
  const other = new URL(url);
  other.pathname = `/${name}`;
  return other.href;
}
