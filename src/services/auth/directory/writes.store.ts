import type { Sql } from '../../../db/index.ts';

/** Every statement about writes themselves. */
export const writeStore = (sql: Sql) => ({
  /** Whether the transaction began more than this many milliseconds ago. */
  async isOlderThan(ms: number): Promise<boolean> {
    const [{ older }] = await sql<[{ older: boolean }]>`
      select clock_timestamp() > now() + ${ms} * interval '1 millisecond' as older`;
    return older;
  },
});
