import type { Sql } from '../../../db/index.ts';
import type { CustomerRow } from '../customers/customers.store.ts';

type Key = Pick<CustomerRow, 'tenant_id' | 'id'>;

/** The statements about what customers have besides their record. */
export const accountStore = (sql: Sql) => ({
  /** The balance entry that was made with an idempotency key. */
  async entry(
    { tenant_id, id }: Key,
    key: string,
  ): Promise<{ readonly amount: number; readonly reason: string | null } | undefined> {
    const [entry] = await sql<{ amount: number; reason: string | null }[]>`
      select amount, reason from billing.balance_entry
      where tenant_id = ${tenant_id} and customer_id = ${id} and idempotency_key = ${key}`;
    return entry;
  },

  /** The drafts that bill a customer and become final by themselves, oldest first. */
  async drafts({ tenant_id, id }: Key): Promise<string[]> {
    const rows = await sql<{ id: string }[]>`
      select id from billing.invoice
      where tenant_id = ${tenant_id} and customer_id = ${id} and status = 'draft' and auto_finalize_at is not null
      order by id`;
    return rows.map((row) => row.id);
  },

  /** Locks a customer against everything, also against subscriptions that are about to name it. */
  async lockAlone({ tenant_id, id }: Key): Promise<void> {
    await sql`select from billing.customer where tenant_id = ${tenant_id} and id = ${id} for update`;
  },

  /** Erases what is known of a customer, and its payment methods. The row stays for its invoices and its credit. */
  async erase({ tenant_id, id }: Key, at: number): Promise<void> {
    const now = new Date(at);
    await sql`delete from billing.payment_method where tenant_id = ${tenant_id} and customer_id = ${id}`;
    await sql`
      update billing.customer
      set name = '', email = '', email_key = '', billing_address = null, tax_ids = '[]', metadata = '{}', deleted_at = ${now},
        updated_at = ${now}
      where tenant_id = ${tenant_id} and id = ${id}`;
  },
});
