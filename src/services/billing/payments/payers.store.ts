import type { Sql } from '../../../db/index.ts';
import { isInView, type View } from '../../../db/view.ts';

/** What payments need to know of a customer. */
export interface PayerRow {
  readonly tenant_id: string;
  readonly id: string;
  readonly app_id: string;
  readonly currency: string;
}

/** The statements about customers who pay. */
export const payerStore = (sql: Sql) => ({
  /** A customer that was not erased. */
  async find(view: View, id: string): Promise<PayerRow | undefined> {
    const [row] = await sql<PayerRow[]>`
      select tenant_id, id, app_id, currency from billing.customer
      where ${isInView(sql, view)} and id = ${id} and deleted_at is null`;
    return row;
  },

  /** Locks a customer until the end of the transaction, and returns its balance. */
  async lock({ tenant_id, id }: Pick<PayerRow, 'tenant_id' | 'id'>): Promise<bigint> {
    const [{ balance }] = await sql<[{ balance: number }]>`
      select balance from billing.customer where tenant_id = ${tenant_id} and id = ${id} for no key update`;
    return BigInt(balance);
  },

  /** Whether the customer owes an invoice. */
  async owes({ tenant_id, id }: Pick<PayerRow, 'tenant_id' | 'id'>): Promise<boolean> {
    const found = await sql`
      select from billing.invoice
      where tenant_id = ${tenant_id} and customer_id = ${id} and status in ('pending', 'past_due') limit 1`;
    return found.length > 0;
  },
});
