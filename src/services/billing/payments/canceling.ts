import type { View } from '../../../db/view.ts';
import { momentText } from '../../../lib/moments.ts';
import { InvalidState, PaymentNotFound } from '../errors.ts';
import { lockInvoice } from '../invoices/open-invoice.ts';
import type { Write } from '../writes.ts';
import type { PaymentDeps } from './deps.ts';
import { settle } from './outcomes.ts';
import { type PaymentRow, statusText } from './payment.ts';
import { paymentStore } from './payments.store.ts';

/** Cancels a payment whose outcome is not known, unless it was canceled before. One that the provider knows is due for a look, so that the provider learns of it. */
export async function cancel(tx: Write, deps: PaymentDeps, view: View, id: string): Promise<PaymentRow> {
  const [store, at] = [paymentStore(tx.sql), deps.clock.now()];
  const found = await store.find(view, id);
  if (found === undefined) throw PaymentNotFound();
  await lockInvoice(tx, { app: found.app_id, tenant: found.tenant_id }, found.invoice_id);
  const current = await store.lock(found);
  const { status } = current;
  if (status === 'canceled') return current;
  if (status !== 'pending') throw InvalidState(statusText(status));
  const { payment } = await settle(tx, deps, found, { kind: 'canceled' });
  if (payment.processor_id === null) return payment;
  return await store.change(payment, { check_at: momentText(at) }, at);
}
