import type { InvoiceRow } from '../invoices/invoices.store.ts';
import { emitCanceled } from '../payments/outcomes.ts';
import { paymentStore } from '../payments/payments.store.ts';
import type { Write } from '../writes.ts';

/** Cancels the payments of a closed invoice whose outcome is open. What arrives all the same goes to the customer's balance. */
export async function cancelOpenPayments(
  tx: Write,
  { tenant_id, id }: Pick<InvoiceRow, 'tenant_id' | 'id'>,
  at: number,
): Promise<void> {
  for (const payment of await paymentStore(tx.sql).cancelOpen({ tenant_id, invoice_id: id }, at))
    emitCanceled(tx, payment);
}
