import { momentText } from '../../../lib/moments.ts';
import { changeBalance } from '../customers/balance.ts';
import { lockInvoice, receive } from '../invoices/open-invoice.ts';
import type { Write } from '../writes.ts';
import type { PaymentDeps } from './deps.ts';
import { creditOf, moved, type Outcome, type Standing } from './outcome.ts';
import { type PaymentKey, paymentEvent, type PaymentRow, standingOf } from './payment.ts';
import { paymentStore } from './payments.store.ts';
import { lockForRefund, reclaim, toReclaim } from './reclaiming.ts';

type OutcomeDeps = Pick<PaymentDeps, 'clock' | 'log' | 'onFailed' | 'chargeLimits'>;

/** A payment after an outcome, and whether the outcome changed anything. */
export interface Settled {
  readonly payment: PaymentRow;
  readonly isChanged: boolean;
}

/**
 * Moves a payment to an outcome, whoever tells of it: the answer of the provider, a notification, a look-up. Outcomes may come in any
 * order and repeatedly. Money that has arrived goes to the invoice, and what the invoice does not need to the customer's balance.
 *
 * @param processorId the provider's id of the payment, by which it is refunded and heard of; its own answer may have been lost
 */
export async function settle(
  tx: Write,
  deps: OutcomeDeps,
  key: PaymentKey,
  outcome: Outcome,
  processorId: string | null = null,
): Promise<Settled> {
  const row = outcome.kind === 'refunded' ? await lockForRefund(tx, key) : await lockPayment(tx, key);
  const before = standingOf(row);
  const after = moved(before, { amount: BigInt(row.amount), currency: row.currency }, outcome);
  if (after === undefined) return { payment: row, isChanged: false };
  if ('fault' in after) {
    deps.log.error({ payment: row.id, outcome: outcome.kind }, `${after.fault} was not applied`);
    return { payment: row, isChanged: false };
  }
  const at = deps.clock.now();
  const arrived = after.received - before.received;
  const left = arrived > 0n ? await receive(tx, deps, { ...key, id: key.invoice_id }, arrived, at) : 0n;
  const unapplied = BigInt(row.unapplied_amount) + left;
  const credit = creditOf(
    { growth: left, reclaimed: BigInt(row.reclaimed_amount) },
    { unapplied, refunds: after.refunded + BigInt(row.refunding_amount) },
  );
  const stands = await stored(tx, row, {
    after,
    unapplied,
    reclaimed: credit.reclaimed,
    processorId: row.processor_id ?? processorId,
    at,
  });
  if (arrived > 0n) await cancelOpen(tx, key, at);
  await give(tx, stands, credit.given, at);
  const payment = outcome.kind === 'refunded' ? await takeBack(tx, deps, stands, at) : stands;
  report(tx, row, payment);
  if (payment.status === 'failed' && row.status !== 'failed') await deps.onFailed(tx, payment, at);
  return { payment, isChanged: true };
}

async function lockPayment(tx: Write, key: PaymentKey): Promise<PaymentRow> {
  await lockInvoice(tx, { app: key.app_id, tenant: key.tenant_id }, key.invoice_id);
  return await paymentStore(tx.sql).lock(key);
}

/** Cancels the open payments of an invoice that is paid or voided; of every other invoice none. The invoice is locked. */
export async function cancelOpen(
  tx: Write,
  invoice: Pick<PaymentKey, 'tenant_id' | 'invoice_id'>,
  at: number,
): Promise<void> {
  for (const payment of await paymentStore(tx.sql).cancelOpen(invoice, at))
    tx.emit('billing.payment.canceled', payment, {
      ...paymentEvent(payment),
      previous: { status: 'pending' },
    });
}

/**
 * Gives what payments have brought to an invoice to their customers, because the invoice is voided and needs it no more. What was
 * refunded of them is not given twice, neither now nor by a refund that follows. The invoice is locked.
 */
export async function release(
  tx: Write,
  invoice: Pick<PaymentKey, 'tenant_id' | 'invoice_id'>,
  at: number,
): Promise<void> {
  const store = paymentStore(tx.sql);
  for (const { unapplied_before, ...payment } of await store.release(invoice, at)) {
    const { given, reclaimed } = creditOf(
      {
        growth: BigInt(payment.unapplied_amount - unapplied_before),
        reclaimed: BigInt(payment.reclaimed_amount),
      },
      {
        unapplied: BigInt(payment.unapplied_amount),
        refunds: BigInt(payment.refunded_amount + payment.refunding_amount),
      },
    );
    await store.change(payment, { reclaimed_amount: Number(reclaimed) }, at);
    await give(tx, payment, given, at);
  }
}

/** What becomes of a payment. */
interface Moved {
  readonly after: Standing;
  readonly unapplied: bigint;
  readonly reclaimed: bigint;
  readonly processorId: string | null;
  readonly at: number;
}

async function stored(
  { sql }: Write,
  row: PaymentRow,
  { after, unapplied, reclaimed, processorId, at }: Moved,
): Promise<PaymentRow> {
  const { status, received, refunded, failure } = after;
  const isOpen = status === 'pending';
  const change = {
    status,
    processor_id: processorId,
    received_amount: Number(received),
    refunded_amount: Number(refunded),
    unapplied_amount: Number(unapplied),
    reclaimed_amount: Number(reclaimed),
    failure_code: failure?.code ?? null,
    failure_message: failure?.message ?? null,
    ...(!isOpen && { next_action: null, check_at: null }),
    ...(!isOpen && (row.completed_at === null || status !== row.status) && { completed_at: momentText(at) }),
  };
  return await paymentStore(sql).change(row, change, at);
}

/** Gives the customer credit. */
async function give(tx: Write, payment: PaymentRow, amount: bigint, at: number): Promise<void> {
  if (amount <= 0n) return;
  const { tenant_id, id, invoice_id, customer_id } = payment;
  if (customer_id === null) {
    tx.emit('billing.payment.unapplied', payment, paymentEvent(payment));
    return;
  }
  const cause = { reason: 'payment that no invoice needed', invoiceId: invoice_id, paymentId: id };
  await changeBalance(tx, { tenant_id, customerId: customer_id, amount: -amount, cause }, at);
}

/** Takes back the credit of a payment whose refund the provider tells of, as far as it has not paid for something else. */
async function takeBack(
  tx: Write,
  { log }: Pick<OutcomeDeps, 'log'>,
  payment: PaymentRow,
  at: number,
): Promise<PaymentRow> {
  const due = await toReclaim(tx, payment, BigInt(payment.refunded_amount));
  if (due <= 0n) return payment;
  const taken = await reclaim(tx, payment, due, at);
  if (taken < due) log.error({ payment: payment.id }, 'a refund returned what credit had paid for already');
  const reclaimed_amount = payment.reclaimed_amount + Number(taken);
  return await paymentStore(tx.sql).change(payment, { reclaimed_amount }, at);
}

/** One event for each thing that the outcome has made true. */
function report(tx: Write, before: PaymentRow, after: PaymentRow): void {
  const data = { ...paymentEvent(after), previous: { status: before.status } };
  const hasBecome = (status: PaymentRow['status']) => after.status === status && before.status !== status;
  if (hasBecome('succeeded') || after.received_amount > before.received_amount)
    tx.emit('billing.payment.succeeded', after, data);
  if (hasBecome('failed')) tx.emit('billing.payment.failed', after, data);
  if (hasBecome('canceled')) tx.emit('billing.payment.canceled', after, data);
  if (after.refunded_amount > before.refunded_amount) tx.emit('billing.payment.refunded', after, data);
}
