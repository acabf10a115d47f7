import { momentText } from '../../../lib/moments.ts';
import type { Deps } from '../deps.ts';
import { finalize } from '../invoices/finalizing.ts';
import { invoiceOf } from '../invoices/invoice.ts';
import { type InvoiceChange, invoiceStore, type InvoiceRow } from '../invoices/invoices.store.ts';
import { checkOpen, recover, type LockedInvoice } from '../invoices/open-invoice.ts';
import { cancelOpen } from '../payments/outcomes.ts';
import type { Write } from '../writes.ts';
import { manualPaymentStore } from './manual-payments.store.ts';

interface ManualPayment {
  readonly reference: string | null;
  /** Milliseconds since 1970. */
  readonly paidAt: number;
  /** Whether the time was not given. */
  readonly isNow: boolean;
}

/**
 * Records that an invoice was paid outside the providers. A draft becomes final first, and open payments are canceled. A payment that is
 * recorded already is not recorded again.
 */
export async function pay(
  tx: Write,
  deps: Pick<Deps, 'revisions' | 'clock' | 'settings'>,
  { invoice, subscription }: LockedInvoice,
  payment: ManualPayment,
): Promise<InvoiceRow> {
  const { sql, emit } = tx;
  const { reference, paidAt } = payment;
  const now = deps.clock.now();
  if (await isRecorded(tx, invoice, payment)) return invoice;
  checkOpen(invoice);
  const final =
    invoice.status === 'draft' ? await finalize(tx, deps, subscription, invoice, 'paid') : invoice;
  const rest = BigInt(final.amount_due - final.amount_paid);
  if (rest > 0n) await manualPaymentStore(sql).insert(final, rest, paidAt, now);
  const change: InvoiceChange = {
    status: 'paid',
    amount_paid: final.amount_due,
    paid_at: momentText(paidAt),
    payment_ref: reference,
    next_attempt_at: null,
  };
  await invoiceStore(sql).change(final, change, now);
  await cancelOpen(tx, { tenant_id: final.tenant_id, invoice_id: final.id }, now);
  const after = { ...final, ...change, updated_at: momentText(now) };
  emit('billing.invoice.paid', after, invoiceOf(after, []));
  await recover(tx, subscription, now);
  return after;
}

/** Whether the invoice is paid by just this payment. */
async function isRecorded(
  { sql }: Write,
  invoice: InvoiceRow,
  { reference, paidAt, isNow }: ManualPayment,
): Promise<boolean> {
  if (invoice.status !== 'paid' || invoice.payment_ref !== reference) return false;
  if (!isNow && Date.parse(invoice.paid_at!) !== paidAt) return false;
  return reference !== null || invoice.amount_due === 0 || (await manualPaymentStore(sql).has(invoice));
}
