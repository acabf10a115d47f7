import type { Sql } from '../db/index.ts';

/** The cheapest question that only a working database answers. */
export const healthStore = (sql: Sql) => ({
  async ping(): Promise<void> {
    await sql`select 1`;
  },
});
