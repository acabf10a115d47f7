import type { Sql } from './sql.ts';

/** Allows at most `most` uses within any interval of `windowMs` milliseconds. */
export interface Quota {
  readonly key: Buffer;
  readonly most: number;
  readonly windowMs: number;
}

/**
 * Quotas that all processes share. One statement, in the transaction of the work that uses them, counts a use on all wanted quotas, or
 * on none when one is used up. No interval of the window has more than `most` uses, by the database's clock. The service's migration
 * creates the table `quotas` and the function `take_quotas` in its schema.
 */
export const quotas = (schema: string) => ({
  /** Returns the seconds until each quota has a use left, in the given order; all are 0 when a use of each was taken. */
  async take(sql: Sql, tenant: string, wanted: readonly Quota[]): Promise<number[]> {
    if (wanted.length === 0) return [];
    const sorted = [...wanted].sort((one, other) => one.key.compare(other.key));
    const [{ waits }] = await sql<[{ waits: number[] }]>`
      select waits from ${sql(`${schema}.take_quotas`)}(
        ${tenant}, ${sql.array(sorted.map(({ key }) => key))}::bytea[], ${sorted.map(({ most }) => most)}::integer[],
        ${sorted.map(({ windowMs }) => windowMs)}::bigint[]
      )`;
    return wanted.map((one) => Math.ceil(waits[sorted.indexOf(one)]!));
  },

  /** Deletes rows that no longer count. Returns how many, at most `batch`. */
  async sweep(sql: Sql, batch: number): Promise<number> {
    const { count } = await sql`
      delete from ${sql(`${schema}.quotas`)}
      where (tenant_id, hash) in (
        select tenant_id, hash from ${sql(`${schema}.quotas`)}
        where ends_at <= now()
        limit ${batch}
        for update skip locked
      )`;
    return count;
  },
});
