import type { RefundInput } from '../../../../generated/billing/types.ts';
import type { View } from '../../../db/view.ts';
import type { Author } from '../../../db/write.ts';
import { newId } from '../../../lib/ids.ts';
import { momentText } from '../../../lib/moments.ts';
import { InvalidState, PaymentNotFound, Refused } from '../errors.ts';
import { lockInvoice } from '../invoices/open-invoice.ts';
import { priceFault } from '../money/charge-limits.ts';
import type { Provider, RefundResult } from '../providers/provider.ts';
import { configured } from '../providers/providers.ts';
import { system, type Write } from '../writes.ts';
import { ProviderFailed, TimedOut } from './charging.ts';
import { leaseMs } from './checks.ts';
import type { PaymentDeps } from './deps.ts';
import { settle } from './outcomes.ts';
import { type PaymentRow, refundable, statusText } from './payment.ts';
import { paymentStore } from './payments.store.ts';
import { type RefundRow, refundStore } from './refunds.store.ts';
import { TooMuch } from './reservation.ts';

/**
 * Refunds a payment in three steps, as one is made: the amount is kept, the provider is asked, the answer is stored.
 * @throws Refused
 */
export async function refund(
  deps: PaymentDeps,
  { author, view }: { author: Author; view: View },
  id: string,
  wanted: RefundInput,
): Promise<PaymentRow> {
  const { payment, row } = await deps.write(author, (tx) => keep(tx, deps, view, id, wanted));
  const result = await askFor(deps, payment, row);
  const after = await recordRefund(deps, payment, row, result);
  if (result.state === 'unknown') throw TimedOut(result.cause, { payment_id: id });
  if (result.state !== 'succeeded')
    throw ProviderFailed('cause' in result ? result.cause : new Error(result.message));
  return after;
}

interface Kept {
  readonly payment: PaymentRow;
  readonly row: RefundRow;
}

async function keep(
  { sql }: Write,
  deps: PaymentDeps,
  view: View,
  id: string,
  { amount, reason }: RefundInput,
): Promise<Kept> {
  const [store, at] = [paymentStore(sql), deps.clock.now()];
  const found = await store.find(view, id);
  if (found === undefined) throw PaymentNotFound();
  const payment = await store.lock(found);
  if (payment.status !== 'succeeded' && payment.status !== 'refunded')
    throw InvalidState(statusText(payment.status));
  moverOf(deps, payment);
  const left = refundable(payment);
  if (left <= 0n) throw InvalidState('nothing of the payment is left to refund');
  if (amount !== undefined && amount.currency !== payment.currency)
    throw Refused('invalid_amount', `amount: must be in ${payment.currency}`);
  const wanted = amount === undefined ? left : BigInt(amount.amount);
  const fault =
    amount && payment.processor_name !== 'manual' && priceFault(wanted, deps.chargeLimits(payment.currency));
  if (fault) throw Refused('invalid_amount', `amount: ${fault}`);
  if (!(await store.reserveRefund(payment, wanted))) throw TooMuch();
  const row: RefundRow = {
    ...{ tenant_id: payment.tenant_id, id: newId('re', at), payment_id: id, amount: Number(wanted), reason },
    ...{ status: 'pending', processor_id: null, check_at: momentText(at + leaseMs) },
    ...{ created_at: momentText(at), completed_at: null },
  };
  await refundStore(sql).insert(row);
  return { payment, row };
}

/**
 * Who returns the money of a payment: its provider, or whoever recorded it by hand.
 * @throws Refused `provider_not_configured`
 */
function moverOf({ provider }: PaymentDeps, { processor_name, processor_id }: PaymentRow): Mover {
  if (processor_name === 'manual') return 'byHand';
  const isOurs = provider?.name === processor_name && processor_id !== null;
  return { provider: configured(isOurs ? provider : undefined), processorId: processor_id ?? '' };
}

type Mover = 'byHand' | { readonly provider: Provider; readonly processorId: string };

/** Asks for the money of a refund that is stored; to ask again is to get the same answer. */
export async function askFor(
  deps: PaymentDeps,
  payment: PaymentRow,
  { tenant_id: tenant, id, amount }: RefundRow,
): Promise<RefundResult> {
  const mover = moverOf(deps, payment);
  if (mover === 'byHand') return { state: 'succeeded', processorId: id };
  const { provider, processorId } = mover;
  return await provider.refund({
    ...{ id, paymentId: payment.id, tenant, processorId, amount: BigInt(amount), currency: payment.currency },
    source: payment.source ?? undefined,
  });
}

/** Stores the answer, once: whoever comes later finds the refund ended. */
export async function recordRefund(
  deps: PaymentDeps,
  payment: PaymentRow,
  row: RefundRow,
  result: RefundResult,
): Promise<PaymentRow> {
  if (result.state === 'unknown') return payment;
  const { tenant_id, app_id, invoice_id } = payment;
  return await deps.write(system(tenant_id, app_id), async (tx) => {
    const [store, at] = [paymentStore(tx.sql), deps.clock.now()];
    await lockInvoice(tx, { app: app_id, tenant: tenant_id }, invoice_id);
    const current = await store.lock(payment);
    const hasSucceeded = result.state === 'succeeded';
    const status = hasSucceeded ? 'succeeded' : 'failed';
    const processorId = hasSucceeded ? result.processorId : null;
    if (!(await refundStore(tx.sql).end(row, { status, processorId, at }))) return current;
    const refunding_amount = current.refunding_amount - row.amount;
    if (!hasSucceeded) return await store.change(payment, { refunding_amount }, at);
    const told = result.total === undefined ? { more: BigInt(row.amount) } : { total: result.total };
    await store.change(payment, { refunding_amount, refund_reason: row.reason }, at);
    return (await settle(tx, deps, payment, { kind: 'refunded', ...told })).payment;
  });
}
