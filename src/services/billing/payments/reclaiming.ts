import { momentText } from '../../../lib/moments.ts';
import { changeBalance } from '../customers/balance.ts';
import { type InvoiceChange, invoiceStore, type InvoiceRow } from '../invoices/invoices.store.ts';
import { lockInvoice } from '../invoices/open-invoice.ts';
import type { Write } from '../writes.ts';
import { reclaimed } from './outcome.ts';
import { payerStore } from './payers.store.ts';
import type { PaymentKey, PaymentRow } from './payment.ts';
import { paymentStore } from './payments.store.ts';
import { reclaimingStore } from './reclaiming.store.ts';

/** Locks a payment and whatever a refund of it may take credit back from, in the order in which everybody locks. */
export async function lockForRefund(tx: Write, key: PaymentKey): Promise<PaymentRow> {
  await reclaimingStore(tx.sql).lockSubscriptions(key);
  await lockInvoice(tx, { app: key.app_id, tenant: key.tenant_id }, key.invoice_id);
  return await paymentStore(tx.sql).lock(key);
}

/**
 * What refunds of a payment have to take back of the credit that it, or its invoice, has given, beyond what they have taken already: below
 * 0 when they have taken more, because one has failed.
 */
export async function toReclaim(
  { sql }: Pick<Write, 'sql'>,
  row: PaymentRow,
  refunds: bigint,
): Promise<bigint> {
  const returns = await reclaimingStore(sql).returns(row);
  return reclaimed(BigInt(row.unapplied_amount), refunds, returns) - BigInt(row.reclaimed_amount);
}

/**
 * Takes credit back from the customer of a payment: what is left of it first, then what has paid for invoices that are still open, which
 * are to be paid in another way then. Returns how much it was.
 */
export async function reclaim(tx: Write, payment: PaymentRow, amount: bigint, at: number): Promise<bigint> {
  const { tenant_id, id, customer_id } = payment;
  if (customer_id === null || amount <= 0n) return amount;
  const take = async (taken: bigint, invoiceId: string) => {
    const cause = { reason: 'refund of the payment that gave the credit', invoiceId, paymentId: id };
    await changeBalance(tx, { tenant_id, customerId: customer_id, amount: taken, cause }, at);
  };
  const users = await invoiceStore(tx.sql).lockUsingCredit(tenant_id, customer_id);
  const credit = -(await payerStore(tx.sql).lock({ tenant_id, id: customer_id }));
  const fromBalance = amount < credit ? amount : credit;
  if (fromBalance > 0n) await take(fromBalance, payment.invoice_id);
  let left = amount - fromBalance;
  for (const invoice of users) {
    const used = BigInt(invoice.credit_applied) < left ? BigInt(invoice.credit_applied) : left;
    if (used === 0n) break;
    left -= used;
    await invoiceStore(tx.sql).change(invoice, withoutCredit(invoice, Number(used), at), at);
    const cause = { reason: 'credit that was refunded', invoiceId: invoice.id };
    await changeBalance(tx, { tenant_id, customerId: customer_id, amount: -used, cause }, at);
    await take(used, invoice.id);
  }
  return amount - left;
}

/** An invoice that was covered has to be collected again, unless whoever asked for it does so. */
const withoutCredit = (
  { credit_applied, set_off_amount, amount_due, amount_paid, origin }: InvoiceRow,
  used: number,
  at: number,
): InvoiceChange => ({
  credit_applied: credit_applied - used,
  set_off_amount: Math.min(set_off_amount, credit_applied - used),
  amount_due: amount_due + used,
  ...(amount_due === amount_paid && { next_attempt_at: origin === 'manual' ? null : momentText(at) }),
});

/** Gives a customer back what refunds have taken too much, because one has failed. */
export async function restore(tx: Write, payment: PaymentRow, at: number): Promise<PaymentRow> {
  const refunds = BigInt(payment.refunded_amount + payment.refunding_amount);
  const surplus = -(await toReclaim(tx, payment, refunds));
  if (surplus <= 0n) return payment;
  const { tenant_id, id, invoice_id, customer_id } = payment;
  if (customer_id !== null) {
    const cause = { reason: 'refund that failed', invoiceId: invoice_id, paymentId: id };
    await changeBalance(tx, { tenant_id, customerId: customer_id, amount: -surplus, cause }, at);
  }
  const reclaimed_amount = payment.reclaimed_amount - Number(surplus);
  return await paymentStore(tx.sql).change(payment, { reclaimed_amount }, at);
}
