import { createPool, type Sql } from './sql.ts';

/** What a database says of itself. */
export interface DatabaseFacts {
  readonly version: string;
  /** Milliseconds by which its clock is ahead of this process. */
  readonly aheadMs: number;
  /** How many connections it takes from users without special rights. */
  readonly mostConnections: number;
}

export async function factsOf(sql: Sql): Promise<DatabaseFacts> {
  const [facts] = await sql<[DatabaseFacts]>`
    select current_setting('server_version') as version,
      extract(epoch from clock_timestamp())::float8 * 1000 - ${Date.now()}::float8 as "aheadMs",
      current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer as "mostConnections"`;
  return facts;
}

/** The first of these schemas that a database on a server has, if any. */
export async function schemaAmong(url: string, names: readonly string[]): Promise<string | undefined> {
  const pool = createPool({ max: 1 }, url);
  try {
    const [known] = await pool<{ name: string }[]>`
      select nspname as name from pg_namespace where nspname = any(${[...names]}::text[]) order by 1 limit 1`;
    return known?.name;
  } finally {
    await pool.end();
  }
}
