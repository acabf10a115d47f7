import type { Sql } from '../../db/index.ts';

/** Every statement about how often numbers were written to. */
export const textSendStore = (sql: Sql) => ({
  /**
   * How many seconds ago texts went to the number, of those at most `longest` seconds old. Until the end of the transaction nobody
   * else counts for it.
   */
  async agesLocked(tenant: string, phoneMac: Buffer, longest: number): Promise<number[]> {
    const [{ ages }] = await sql<[{ ages: number[] }]>`
      insert into auth.text_sends (tenant_id, phone_mac)
      values (${tenant}, ${phoneMac})
      on conflict (tenant_id, phone_mac) do update
      set sent_at = array(
        select sent from unnest(text_sends.sent_at) as sent
        where sent > now() - ${longest} * interval '1 second'
      )
      returning array(
        select extract(epoch from now() - sent)::float8 from unnest(text_sends.sent_at) as sent
      ) as ages`;
    return ages;
  },

  async note(tenant: string, phoneMac: Buffer): Promise<void> {
    await sql`
      update auth.text_sends
      set sent_at = sent_at || now()::timestamptz(3), updated_at = now()
      where tenant_id = ${tenant} and phone_mac = ${phoneMac}`;
  },

  /** Deletes what counts no more. Answers how many, at most `batch`. */
  async forget(batch: number, longest: number): Promise<number> {
    const { count } = await sql`
      delete from auth.text_sends
      where (tenant_id, phone_mac) in (
        select tenant_id, phone_mac from auth.text_sends
        where updated_at <= now() - ${longest} * interval '1 second'
        limit ${batch}
      )`;
    return count;
  },
});
