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

/** Deletes the counts of holders who used nothing for two windows. Returns how many. */
export async function forgetIdleRates(sql: Sql, schema: string): Promise<number> {
  const { count } = await sql`
    delete from ${sql(`${schema}.rate_windows`)}
    where (slot + 21) * sub_ms < extract(epoch from clock_timestamp()) * 1000`;
  return count;
}
