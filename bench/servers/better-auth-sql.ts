import postgres from 'postgres';

/** What Better Auth's own adapter for PostgreSQL wants in place of a pool of the `pg` package, and the pool behind it. */
export function betterAuthPool(url: string): { sql: postgres.Sql; database: object } {
  const sql = postgres(url, { max: 10, onnotice() {} });
  // Statements stay prepared, which that package does not even do.
  const connection = {
    release() {},
    async query(text: string, parameters: postgres.ParameterOrJSON<never>[]) {
      const rows = await sql.unsafe<object[]>(text, parameters, { prepare: true });
      return { command: rows.command, rowCount: rows.count, rows: [...rows] };
    },
  };
  return { sql, database: { connect: async () => connection, end: () => sql.end() } };
}
