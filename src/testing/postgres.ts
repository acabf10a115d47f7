import { createPool } from '../db/sql.ts';

const loopback = 'postgres://postgres@127.0.0.1:5432/postgres';

/**
 * The PostgreSQL server in which tests may create databases: TEST_DATABASE_URL, which must answer if it is set, or the server on the
 * loopback port, if there is one that accepts the connection.
 */
export async function findPostgres(): Promise<string | undefined> {
  const named = process.env['TEST_DATABASE_URL'];
  const url = named || loopback;
  const pool = createPool({ max: 1, connect_timeout: 3 }, url);
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

/** The URL of another database on the same server. */
export function inDatabase(url: string, name: string): string {
  const other = new URL(url);
  other.pathname = `/${name}`;
  return other.href;
}
