import postgres from 'postgres';

/**
 * Returns the object that Better Auth's own PostgreSQL adapter expects in place of a pool of the `pg` package, and the client
 * behind it.
 */
export function betterAuthPool(url: string): { sql: postgres.Sql; database: object } {
  const sql = postgres(url, { max: 10, onnotice() {} });
  // Statements stay prepared, which the `pg` package does not do by default.
  const connection = {
    release() {},
    async query(text: string, parameters: postgres.ParameterOrJSON<never>[]) {
      const rows = await sql.unsafe<object[]>(text, parameters, { prepare: true });
      return { command: rows.command, rowCount: rows.count, rows: [...rows] };
    },
  };
  return { sql, database: { connect: async () => connection, end: () => sql.end() } };
}
