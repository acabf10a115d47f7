import type { Sql } from '../../../db/index.ts';
import type { ListedSubscription } from '../subscriptions/subscriptions.store.ts';

/** The statements about who pays for a subscription. */
export const payersStore = (sql: Sql) => ({
  /** Reads a customer, which can neither be erased nor get another currency until the end of the transaction. */
  async keep(
    tenant: string,
    app: string,
    customerId: string,
  ): Promise<{ readonly currency: string } | undefined> {
    const [customer] = await sql<{ currency: string }[]>`
      select currency from billing.customer
      where tenant_id = ${tenant} and app_id = ${app} and id = ${customerId} and deleted_at is null
      for share`;
    return customer;
  },

  /** Whether trials of a plan need a payment method to go on. */
  async demandsMethod(app: string, planId: string): Promise<boolean> {
    const [plan] = await sql<{ demands: boolean }[]>`
      select trial_requires_payment_method as demands from billing.plan where app_id = ${app} and id = ${planId}`;
    return plan?.demands ?? false;
  },

  /** Whether the customer who is billed for a subscription has a payment method. */
  async hasMethod(
    { tenant_id, app_id, customer_id }: Pick<ListedSubscription, 'tenant_id' | 'app_id' | 'customer_id'>,
    currency: string,
  ): Promise<boolean> {
    const found = await sql`
      select from billing.payment_method
      where tenant_id = ${tenant_id} and customer_id = (
        select id from billing.customer
        where tenant_id = ${tenant_id} and app_id = ${app_id} and deleted_at is null
          and ${customer_id === null ? sql`currency = ${currency}` : sql`id = ${customer_id}`}
        order by id limit 1
      )
      limit 1`;
    return found.length > 0;
  },
});
