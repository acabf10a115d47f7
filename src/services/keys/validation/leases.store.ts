import type { Sql } from '../../../db/index.ts';
import type { Grant, RateStore } from './rates.ts';

/** Counts rate units in PostgreSQL, one row for each key; see `migrations/0002_rate_windows.sql`. */
export function leaseStore(sql: Sql): RateStore {
  return {
    async reserve({ tenant, key }, { limit, windowMs }, want, min) {
      const [grant] = await sql<[Grant]>`
        select granted, left_ms as "leftMs", used, wait_ms as "waitMs", reset_ms as "resetMs", slot
        from keys.reserve(
          ${tenant}::text, ${key}::text, ${limit}::integer, ${windowMs}::bigint, ${want}::integer, ${min}::integer
        )
      `;
      return grant;
    },

    async giveBack(rests) {
      await sql`
        select keys.give_back(
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
