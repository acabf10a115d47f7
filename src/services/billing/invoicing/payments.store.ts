import type { Sql } from '../../../db/index.ts';
import { newId } from '../../../lib/ids.ts';
import type { InvoiceRow } from '../invoices/invoices.store.ts';

/** The statements about payments that follow from a change of their invoice, whose row is locked. */
export const invoicePaymentStore = (sql: Sql) => ({
  /** Cancels the payments of an invoice whose outcome is open. What arrives all the same goes to the customer's balance. */
  async cancelOpen({ tenant_id, id }: Pick<InvoiceRow, 'tenant_id' | 'id'>, at: number): Promise<string[]> {
    const rows = await sql<{ id: string }[]>`
      update billing.payment
      set status = 'canceled', completed_at = ${new Date(at)}, updated_at = ${new Date(at)}, next_action = null, check_at = null
      where tenant_id = ${tenant_id} and invoice_id = ${id} and status = 'pending'
      returning id`;
    return rows.map((row) => row.id);
  },

  /** Records a payment that was made outside the providers. */
  async insertManual(invoice: InvoiceRow, amount: bigint, paidAt: number, at: number): Promise<string> {
    const id = newId('pay', at);
    await sql`
      insert into billing.payment ${sql({
        tenant_id: invoice.tenant_id,
        id,
        app_id: invoice.app_id,
        invoice_id: invoice.id,
        customer_id: invoice.customer_id,
        amount: String(amount),
        currency: invoice.currency,
        status: 'succeeded',
        processor_name: 'manual',
        received_amount: String(amount),
        metadata: {},
        created_at: new Date(at),
        completed_at: new Date(paidAt),
        updated_at: new Date(at),
      })}`;
    return id;
  },
});
