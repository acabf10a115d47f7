import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { RefundInput } from '../../../../generated/billing/types.ts';
import type { View } from '../../../db/view.ts';
import type { Author } from '../../../db/write.ts';
import { newId } from '../../../lib/ids.ts';
import { momentText } from '../../../lib/moments.ts';
import { InvalidState, KeyReused, PaymentNotFound, Refused } from '../errors.ts';
import { moneyText } from '../money/money.ts';
import type { FoundRefund, Provider, RefundOrder, RefundResult } from '../providers/provider.ts';
import { configured } from '../providers/providers.ts';
import { system, type Write } from '../writes.ts';
import { ProviderFailed, TimedOut } from './charging.ts';
import { leaseMs, longestOpenMs } from './checks.ts';
import type { PaymentDeps } from './deps.ts';
import { settle } from './outcomes.ts';
import { type PaymentRow, refundable, statusText } from './payment.ts';
import { paymentStore } from './payments.store.ts';
import { lockForRefund, reclaim, restore, toReclaim } from './reclaiming.ts';
import { type KeyedRequest, type RefundRow, refundStore } from './refunds.store.ts';
import { TooMuch } from './reservation.ts';

/** Who asks for a refund, and the key by which a repetition is recognised. */
interface Asker {
  readonly author: Author;
  readonly view: View;
  readonly key: string | undefined;
}

/**
 * Refunds a payment in three steps, as one is made: the amount is kept, the provider is asked, the answer is stored. The same key gets the
 * same refund, whatever became of the first request.
 * @throws Refused
 */
export async function refund(
  deps: PaymentDeps,
  { author, view, key }: Asker,
  id: string,
  wanted: RefundInput,
): Promise<PaymentRow> {
  const request = key === undefined ? undefined : { key, digest: digestOf(wanted) };
  const { payment, row, isRepeat } = await deps.write(author, (tx) =>
    keep(tx, deps, view, { id, wanted, request }),
  );
  if (row.status === 'succeeded') return payment;
  if (row.status === 'failed') throw ProviderFailed(new Error('the refund failed before'));
  const result = isRepeat
    ? await outcomeOf(deps, payment, row, deps.clock.now())
    : await askFor(deps, payment, row);
  const after = await recordRefund(deps, payment, row, result);
  if (result.state === 'unknown') throw TimedOut(result.cause, { payment_id: id });
  if (result.state !== 'succeeded')
    throw ProviderFailed('cause' in result ? result.cause : new Error(result.message));
  return after;
}

const digestOf = ({ amount, reason }: RefundInput): Buffer =>
  createHash('sha256')
    .update(canonicalize({ amount, reason }) ?? '')
    .digest();

interface Kept {
  readonly payment: PaymentRow;
  readonly row: RefundRow;
  /** Whether an earlier request with the same key has asked for it. */
  readonly isRepeat: boolean;
}

async function keep(
  tx: Write,
  deps: PaymentDeps,
  view: View,
  { id, wanted: { amount, reason }, request }: Asked,
): Promise<Kept> {
  const [store, at] = [paymentStore(tx.sql), deps.clock.now()];
  const found = await store.find(view, id);
  if (found === undefined) throw PaymentNotFound();
  const payment = await lockForRefund(tx, found);
  const earlier = request && (await refundStore(tx.sql).keyed(payment, request));
  if (earlier !== undefined) {
    if (!earlier.is_same) throw KeyReused();
    return { payment, row: earlier, isRepeat: true };
  }
  if (payment.status !== 'succeeded' && payment.status !== 'refunded')
    throw InvalidState(statusText(payment.status));
  moverOf(deps, payment);
  const left = refundable(payment);
  if (left <= 0n) throw InvalidState('nothing of the payment is left to refund');
  if (amount !== undefined && amount.currency !== payment.currency)
    throw Refused('invalid_amount', `amount: must be in ${payment.currency}`);
  const wanted = amount === undefined ? left : BigInt(amount.amount);
  if (!(await store.reserveRefund(payment, wanted))) throw TooMuch();
  await takeCredit(tx, payment, wanted, at);
  const row: RefundRow = {
    ...{ tenant_id: payment.tenant_id, id: newId('re', at), payment_id: id, amount: Number(wanted), reason },
    ...{ status: 'pending', processor_id: null, check_at: momentText(at + leaseMs) },
    ...{ created_at: momentText(at), completed_at: null },
  };
  await refundStore(tx.sql).insert(row, request);
  return { payment, row, isRepeat: false };
}

interface Asked {
  readonly id: string;
  readonly wanted: RefundInput;
  readonly request: KeyedRequest | undefined;
}

/**
 * A refund first takes back the credit that its payment has given, or the invoice that it paid: money is not returned twice. It does so
 * before the provider is asked, so that nothing uses the credit meanwhile.
 * @throws Refused when the credit has paid for something that is settled
 */
async function takeCredit(tx: Write, payment: PaymentRow, wanted: bigint, at: number): Promise<void> {
  const refunds = BigInt(payment.refunded_amount + payment.refunding_amount) + wanted;
  const due = await toReclaim(tx, payment, refunds);
  const part = due < wanted ? due : wanted;
  if (part <= 0n) return;
  const taken = await reclaim(tx, payment, part, at);
  if (taken < part)
    throw Refused(
      'invalid_amount',
      `amount: ${taken === 0n ? 'nothing' : `at most ${moneyText(taken, payment.currency)}`}, because the credit of this payment has paid for something else`,
    );
  await paymentStore(tx.sql).change(
    payment,
    { reclaimed_amount: payment.reclaimed_amount + Number(taken) },
    at,
  );
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

/** Asks for the money of a refund that is stored; to ask again with a key that is not forgotten is to get the same answer. */
async function askFor(deps: PaymentDeps, payment: PaymentRow, row: RefundRow): Promise<RefundResult> {
  const mover = moverOf(deps, payment);
  if (mover === 'byHand') return { state: 'succeeded', processorId: row.id };
  return await mover.provider.refund(orderOf(payment, mover.processorId, row));
}

/** What has become of a refund whose answer never came: what the provider has made is found there, and only what it has not is asked for. */
export async function outcomeOf(
  deps: PaymentDeps,
  payment: PaymentRow,
  row: RefundRow,
  now: number,
): Promise<RefundResult> {
  const found = await foundOf(deps, payment, row);
  if (found.state !== 'absent') return found;
  const isOld = now - Date.parse(row.created_at) >= longestOpenMs;
  // A key that old may be forgotten, and a repeat could refund again what arrives there late.
  return isOld ? { state: 'rejected', cause: 'too old' } : await askFor(deps, payment, row);
}

async function foundOf(deps: PaymentDeps, payment: PaymentRow, row: RefundRow): Promise<FoundRefund> {
  const mover = moverOf(deps, payment);
  if (mover === 'byHand') return { state: 'absent' };
  return await mover.provider.findRefund(orderOf(payment, mover.processorId, row));
}

const orderOf = (
  { id: paymentId, source }: PaymentRow,
  processorId: string,
  { tenant_id: tenant, id, amount }: RefundRow,
): RefundOrder => ({
  ...{ id, paymentId, tenant, processorId, amount: BigInt(amount) },
  source: source ?? undefined,
});

/** Stores the answer, once: whoever comes later finds the refund ended. */
export async function recordRefund(
  deps: PaymentDeps,
  payment: PaymentRow,
  row: RefundRow,
  result: RefundResult,
): Promise<PaymentRow> {
  if (result.state === 'unknown') return payment;
  const { tenant_id, app_id } = payment;
  return await deps.write(system(tenant_id, app_id), async (tx) => {
    const [store, at] = [paymentStore(tx.sql), deps.clock.now()];
    const current = await lockForRefund(tx, payment);
    const hasSucceeded = result.state === 'succeeded';
    const status = hasSucceeded ? 'succeeded' : 'failed';
    const processorId = hasSucceeded ? result.processorId : null;
    if (!(await refundStore(tx.sql).end(row, { status, processorId, at }))) return current;
    const refunding_amount = current.refunding_amount - row.amount;
    if (!hasSucceeded) return await restore(tx, await store.change(payment, { refunding_amount }, at), at);
    const told = result.total === undefined ? { more: BigInt(row.amount) } : { total: result.total };
    await store.change(payment, { refunding_amount, refund_reason: row.reason }, at);
    const { payment: after } = await settle(tx, deps, payment, { kind: 'refunded', ...told });
    return await restore(tx, after, at);
  });
}
