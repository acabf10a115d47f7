import type { Sql } from '../../../db/index.ts';
import type { CustomerRow } from '../customers/customers.store.ts';
import type { Billed } from '../invoices/account.ts';

type Key = Pick<CustomerRow, 'tenant_id' | 'id'>;

/** The most subscriptions, invoices or payments that a refusal names. */
const mostNamed = 20;

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

  /** The drafts that bill a customer, oldest first. */
  async drafts({ tenant_id, id }: Key): Promise<string[]> {
    const rows = await sql<{ id: string }[]>`
      select id from billing.invoice
      where tenant_id = ${tenant_id} and customer_id = ${id} and status = 'draft'
      order by id`;
    return rows.map((row) => row.id);
  },

  /** The invoices that a customer has still to pay, the oldest ones. */
  async openInvoices({ tenant_id, id }: Key): Promise<string[]> {
    const rows = await sql<{ id: string }[]>`
      select id from billing.invoice
      where tenant_id = ${tenant_id} and customer_id = ${id} and status in ('pending', 'past_due') and amount_due > amount_paid
      order by id limit ${mostNamed}`;
    return rows.map((row) => row.id);
  },

  /** The payments of a customer without an outcome, the oldest ones. */
  async pendingPayments({ tenant_id, id }: Key): Promise<string[]> {
    const rows = await sql<{ id: string }[]>`
      select id from billing.payment
      where tenant_id = ${tenant_id} and customer_id = ${id} and status = 'pending'
      order by id limit ${mostNamed}`;
    return rows.map((row) => row.id);
  },

  /** The newest subscriptions that have ended, and that a customer may have to pay for. */
  async pastSubscriptions(customer: CustomerRow): Promise<Billed[]> {
    return await sql<Billed[]>`
      select tenant_id, app_id, id, customer_id, counts_from from billing.subscription
      where ${isPast(sql, customer)} order by id desc limit ${mostNamed}`;
  },

  /** Locks them, as whoever invoices them does. */
  async lockPastSubscriptions(customer: CustomerRow): Promise<void> {
    await sql`select from billing.subscription where ${isPast(sql, customer)} order by id for no key update`;
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

const isPast = (sql: Sql, { tenant_id, app_id, id }: CustomerRow) => sql`
  tenant_id = ${tenant_id} and app_id = ${app_id} and status in ('canceled', 'expired') and (customer_id is null or customer_id = ${id})`;
