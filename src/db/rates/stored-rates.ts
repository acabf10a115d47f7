import type { Sql } from '../sql.ts';
import type { Grant, RateStore } from './rates.ts';

/**
 * Counts rate units in PostgreSQL, one row per holder. The service's migration creates the table `rate_windows` and the functions
 * `reserve` and `give_back` in its schema, as the `keys` service does in `0002_rate_windows.sql`. Times follow the database's clock.
 */
export function storedRates(sql: Sql, schema: string): RateStore {
  return {
    async reserve({ tenant, key }, { limit, windowMs }, want, min) {
      const [grant] = await sql<[Grant]>`
        select granted, left_ms as "leftMs", used, wait_ms as "waitMs", reset_ms as "resetMs", slot
        from ${sql(`${schema}.reserve`)}(
          ${tenant}::text, ${key}::text, ${limit}::integer, ${windowMs}::bigint, ${want}::integer, ${min}::integer
        )
      `;
      return grant;
    },

    async giveBack(rests) {
      await sql`
        select ${sql(`${schema}.give_back`)}(
          ${rests.map(({ tenant }) => tenant)}::text[],
          ${rests.map(({ key }) => key)}::text[],
          ${rests.map(({ subMs }) => subMs)}::bigint[],
          ${rests.map(({ slot }) => slot)}::bigint[],
          ${rests.map(({ units }) => units)}::integer[]
        )
      `;
    },
  };
}

/** Deletes the counts of holders who used nothing for two windows. Returns how many, at most `batch`. */
export async function forgetIdleRates(sql: Sql, schema: string, batch: number): Promise<number> {
  const table = sql(`${schema}.rate_windows`);
  const { count } = await sql`
    delete from ${table}
    where (tenant_id, key_id) in (
      select tenant_id, key_id from ${table}
      where (slot + 21) * sub_ms < extract(epoch from clock_timestamp()) * 1000
      limit ${batch}
      for update skip locked
    )`;
  return count;
}
