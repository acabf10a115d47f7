import type { Sql } from '../../../db/index.ts';
import type { CustomerRow } from '../customers/customers.store.ts';

type Key = Pick<CustomerRow, 'tenant_id' | 'app_id' | 'id'>;

/** The statements about what customers have besides their record. */
export const accountStore = (sql: Sql) => ({
  /** The balance entry that was made with an idempotency key. */
  async entry(
    { tenant_id, id }: Pick<Key, 'tenant_id' | 'id'>,
    key: string,
  ): Promise<{ readonly amount: number; readonly reason: string | null } | undefined> {
    const [entry] = await sql<{ amount: number; reason: string | null }[]>`
      select amount, reason from billing.balance_entry
      where tenant_id = ${tenant_id} and customer_id = ${id} and idempotency_key = ${key}`;
    return entry;
  },

  /** Whether a live subscription is billed to a customer: one that names it, or names nobody while it is the one to pay. */
  async isNeeded({ tenant_id, app_id, id }: Key): Promise<boolean> {
    const found = await sql`
      select from billing.subscription
      where tenant_id = ${tenant_id} and app_id = ${app_id} and status in ('trialing', 'active', 'past_due', 'paused')
        and (
          customer_id = ${id}
          or customer_id is null and ${id} = (
            select customer.id from billing.customer join billing.plan_revision as revision
              on revision.app_id = subscription.app_id and revision.plan_id = subscription.plan_id and revision.revision = 1
            where customer.tenant_id = ${tenant_id} and customer.app_id = ${app_id} and customer.deleted_at is null
              and customer.currency = revision.currency
            order by customer.id limit 1
          )
        )
      limit 1`;
    return found.length > 0;
  },

  /** Locks a customer against everything, also against subscriptions that are about to name it. */
  async lockAlone({ tenant_id, id }: Pick<Key, 'tenant_id' | 'id'>): Promise<void> {
    await sql`select from billing.customer where tenant_id = ${tenant_id} and id = ${id} for update`;
  },

  /** Erases what is known of a customer, and its payment methods. The row stays for its invoices and its credit. */
  async erase({ tenant_id, id }: Pick<Key, 'tenant_id' | 'id'>, at: number): Promise<void> {
    const now = new Date(at);
    await sql`delete from billing.payment_method where tenant_id = ${tenant_id} and customer_id = ${id}`;
    await sql`
      update billing.customer
      set name = '', email = '', email_key = '', billing_address = null, tax_ids = '[]', metadata = '{}', deleted_at = ${now},
        updated_at = ${now}
      where tenant_id = ${tenant_id} and id = ${id}`;
  },
});
