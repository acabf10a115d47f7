import { configured } from '../providers/providers.ts';
import type { ChargeResult, RefundResult, Rejected, Unknown } from '../providers/provider.ts';
import { system } from '../writes.ts';
import { record } from './charging.ts';
import { leaseMs, longestOpenMs, nextCheck } from './checks.ts';
import type { PaymentDeps } from './deps.ts';
import { settle } from './outcomes.ts';
import { chargeOf, type PaymentRow } from './payment.ts';
import { paymentStore } from './payments.store.ts';
import { outcomeOf, recordRefund } from './refunding.ts';
import { type DueRefund, refundStore } from './refunds.store.ts';

/**
 * Takes up payments and refunds whose outcome is not known although it should be: a process ended, or a provider did not answer or
 * notify. Any number of processes may do so at once, because each takes up others; and to do it twice changes nothing.
 *
 * @returns how many were taken up
 */
export async function reconcile(deps: PaymentDeps, now: number, most = 20): Promise<number> {
  const claim = { at: now, until: now + leaseMs, most };
  const processors = deps.provider === undefined ? [] : [deps.provider.name];
  const payments = await paymentStore(deps.db.sql).claim(processors, claim);
  const refunds = await refundStore(deps.db.sql).claim([...processors, 'manual'], claim);
  await Promise.all([
    ...payments.map((payment) => guarded(deps, payment.id, () => reconcilePayment(deps, payment, now))),
    ...refunds.map((refund) => guarded(deps, refund.id, () => reconcileRefund(deps, refund, now))),
  ]);
  return Math.max(payments.length, refunds.length);
}

/** One that fails is tried again later and does not keep the others back. */
async function guarded({ log }: PaymentDeps, id: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    log.error({ err: error, id }, 'a payment or refund was not reconciled');
  }
}

export async function reconcilePayment(deps: PaymentDeps, payment: PaymentRow, now: number): Promise<void> {
  const isOld = now - Date.parse(payment.created_at) >= longestOpenMs;
  const result = doubtful(await newsOf(deps, payment, isOld));
  if (result.state === 'unknown')
    deps.log.warn({ err: result.cause, payment: payment.id }, 'the outcome of a payment is still unknown');
  const after = await record(deps, payment, result);
  if (after.status === 'pending' && isOld && payment.processor_id === null) await giveUp(deps, payment);
  else await checkAgain(deps, after, now, result);
}

/** A provider that refuses to say, such as for credentials that are not valid any more, has not said that nothing happened. */
const doubtful = <Result extends ChargeResult | RefundResult>(
  result: Result,
): Exclude<Result, Rejected> | Unknown =>
  result.state === 'rejected'
    ? { state: 'unknown', cause: result.cause }
    : (result as Exclude<Result, Rejected>);

/** Asks the provider. What is old or canceled is given up there, too. */
async function newsOf({ provider }: PaymentDeps, payment: PaymentRow, isOld: boolean): Promise<ChargeResult> {
  const mover = configured(provider);
  const asked = chargeOf(payment);
  const isCanceled = payment.status === 'canceled';
  if (payment.processor_id === null)
    return isOld || isCanceled ? { state: 'unknown' } : await mover.charge(asked);
  const started = { ...asked, processorId: payment.processor_id };
  return isOld || isCanceled ? await mover.cancel(started) : await mover.lookup(started);
}

/** No provider has an id for it, and a key that old may be forgotten: money that arrives nevertheless is notified. */
const giveUp = (deps: PaymentDeps, payment: PaymentRow) =>
  deps.write(system(payment.tenant_id, payment.app_id), (tx) =>
    settle(tx, deps, payment, { kind: 'canceled' }),
  );

/** Whatever is open or unknown is looked at again; what has ended is not. */
async function checkAgain(
  { db }: PaymentDeps,
  payment: PaymentRow,
  now: number,
  { state }: ChargeResult,
): Promise<void> {
  const isOpen = payment.status === 'pending' || state === 'unknown';
  const next = isOpen ? nextCheck(Date.parse(payment.created_at), now) : null;
  await paymentStore(db.sql).checkAgain(payment, next);
}

async function reconcileRefund(deps: PaymentDeps, refund: DueRefund, now: number): Promise<void> {
  const view = { app: refund.app_id, tenant: refund.tenant_id };
  const payment = await paymentStore(deps.db.sql).find(view, refund.payment_id);
  if (payment === undefined) return;
  const result = await outcomeOf(deps, payment, refund, now);
  const isOld = now - Date.parse(refund.created_at) >= longestOpenMs;
  await recordRefund(deps, payment, refund, isOld ? result : doubtful(result));
}
