import type { Sql } from '../../../db/index.ts';
import { newId } from '../../../lib/ids.ts';
import type { InvoiceRow } from '../invoices/invoices.store.ts';

/** The statements about payments that were made outside the providers. */
export const manualPaymentStore = (sql: Sql) => ({
  /** Whether an invoice has such a payment. */
  async has({ tenant_id, id }: InvoiceRow): Promise<boolean> {
    const found = await sql`
      select from billing.payment
      where tenant_id = ${tenant_id} and invoice_id = ${id} and processor_name = 'manual' limit 1`;
    return found.length > 0;
  },

  async insert(invoice: InvoiceRow, amount: bigint, paidAt: number, at: number): Promise<void> {
    await sql`
      insert into billing.payment ${sql({
        tenant_id: invoice.tenant_id,
        id: newId('pay', at),
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
  },
});
