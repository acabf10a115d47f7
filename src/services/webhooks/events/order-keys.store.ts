import type { Sql } from '../../../db/index.ts';

/** Every statement about order keys that are no longer used. */
export const orderKeyStore = (sql: Sql) => ({
  /** Forgets keys that no event has had for a while: the next event with such a key has the number 1 again. */
  async forget(idleMs: number, batch: number): Promise<number> {
    const { count } = await sql`
      delete from webhooks.order_head
      where (tenant_id, app_id, order_key) in (
        select tenant_id, app_id, order_key from webhooks.order_head
        where used_at < now() - ${idleMs} * interval '1 millisecond'
        order by used_at limit ${batch}
        for update skip locked
      )`;
    return count;
  },
});
