import { momentText } from '../../../lib/moments.ts';
import { Refused } from '../errors.ts';
import { configured } from '../providers/providers.ts';
import type { ChargeResult } from '../providers/provider.ts';
import { system, type Write } from '../writes.ts';
import { leaseMs, nextCheck } from './checks.ts';
import type { PaymentDeps } from './deps.ts';
import type { Outcome } from './outcome.ts';
import { settle } from './outcomes.ts';
import { chargeOf, type PaymentRow } from './payment.ts';
import { paymentStore } from './payments.store.ts';

/**
 * Asks the provider for the money of a payment that is stored, and stores the answer. A success is stored once the response is on its
 * way, as if it had been notified; should the process end before, the reconciliation asks again.
 * @throws Refused `payment_failed`, `provider_error` or `provider_timeout`
 */
export async function collect(deps: PaymentDeps, payment: PaymentRow): Promise<PaymentRow> {
  const result = await configured(deps.provider).charge(chargeOf(payment));
  if (result.state === 'succeeded') {
    deps.later.run(() => record(deps, payment, result));
    return { ...payment, processor_id: result.processorId };
  }
  const stored = await record(deps, payment, result).catch((error: unknown) => {
    // The provider has answered, and the caller shall know what, although it will be asked once more.
    deps.log.error({ err: error, payment: payment.id }, 'the answer of the provider was not stored');
  });
  throwFor(result, payment.id);
  return stored ?? { ...payment, ...('nextAction' in result && openBy(result)) };
}

const openBy = ({ processorId, nextAction }: Extract<ChargeResult, { state: 'pending' }>) => ({
  processor_id: processorId,
  next_action: nextAction,
});

/** Stores what the provider said of a payment, in one transaction with all that follows from it. */
export async function record(
  deps: PaymentDeps,
  payment: PaymentRow,
  result: ChargeResult,
): Promise<PaymentRow> {
  if (result.state === 'unknown') return payment;
  return await deps.write(authorOf(payment), async (tx) => {
    const outcome = outcomeOf(result);
    const settled = outcome && (await settle(tx, deps, payment, outcome)).payment;
    return 'processorId' in result ? await note(tx, deps, payment, result) : (settled ?? payment);
  });
}

/**
 * Notes the provider's id of a payment, and how the payer finishes it. One that was canceled while the provider was asked is looked at
 * again at once, so that the provider learns of it.
 */
async function note(
  { sql }: Pick<Write, 'sql'>,
  { clock }: Pick<PaymentDeps, 'clock'>,
  { tenant_id, id }: PaymentRow,
  result: ChargeResult,
): Promise<PaymentRow> {
  const [at, store] = [clock.now(), paymentStore(sql)];
  const row = await store.lock({ tenant_id, id });
  const processor_id = row.processor_id ?? ('processorId' in result ? (result.processorId ?? null) : null);
  if (row.status === 'pending') {
    const isOpen = result.state === 'pending';
    const next_action = isOpen ? result.nextAction : null;
    if (processor_id === row.processor_id && next_action?.value === row.next_action?.value) return row;
    const checkAt = isOpen ? nextCheck(Date.parse(row.created_at), at) : at + leaseMs;
    return await store.change(row, { processor_id, next_action, check_at: momentText(checkAt) }, at);
  }
  const isForgotten = row.status === 'canceled' && result.state === 'pending';
  if (processor_id === row.processor_id && !isForgotten) return row;
  return await store.change(row, { processor_id, ...(isForgotten && { check_at: momentText(at) }) }, at);
}

/** The failure codes of a payment that the provider refused to try, although the payer can do nothing about it. */
export const refusedByProvider = 'provider_error';
export const tooSmallForProvider = 'amount_too_small';

function outcomeOf(result: ChargeResult): Outcome | undefined {
  switch (result.state) {
    case 'succeeded': {
      const { amount, currency } = result;
      return {
        kind: 'succeeded',
        ...(amount !== undefined && { amount }),
        ...(currency !== undefined && { currency }),
      };
    }
    case 'failed':
      return { kind: 'failed', code: result.code, message: result.message };
    case 'rejected':
      return result.isTooSmall === true
        ? {
            kind: 'failed',
            code: tooSmallForProvider,
            message: 'the payment provider takes no amount so small',
          }
        : { kind: 'failed', code: refusedByProvider, message: 'the payment provider refused the request' };
    case 'canceled':
      return { kind: 'canceled' };
    case 'pending':
    case 'unknown':
      return undefined;
  }
}

function throwFor(result: ChargeResult, payment_id: string): void {
  if (result.state === 'failed')
    throw Refused('payment_failed', result.message, {
      kind: 'paymentRequired',
      about: { payment_id, failure_code: result.code },
    });
  if (result.state === 'rejected' && result.isTooSmall === true)
    throw Refused('invalid_amount', 'amount: less than the payment provider takes', {
      about: { payment_id },
    });
  if (result.state === 'rejected') throw ProviderFailed(result.cause);
  if (result.state === 'unknown') throw TimedOut(result.cause, { payment_id });
}

/**
 * Refuses the repetition of a request whose charge was refused, in the same words.
 * @throws Refused `payment_failed`, `invalid_amount` or `provider_error`
 */
export function refuseAsBefore({ id, status, source, failure_code, failure_message }: PaymentRow): void {
  if (status !== 'failed' || failure_code === null) return;
  const [message, isTooSmall] = [failure_message ?? '', failure_code === tooSmallForProvider];
  if (isTooSmall || failure_code === refusedByProvider)
    throwFor({ state: 'rejected', cause: new Error(message), isTooSmall }, id);
  // Without a method the payer pays elsewhere, and may try again after a failure there.
  if (source !== null) throwFor({ state: 'failed', code: failure_code, message }, id);
}

export const ProviderFailed = (cause: unknown) =>
  Refused('provider_error', 'the payment provider failed', { kind: 'internal', cause });

export const TimedOut = (cause: unknown, about?: { payment_id: string }) =>
  Refused('provider_timeout', 'the payment provider did not answer in time', {
    ...{ kind: 'gatewayTimeout', cause },
    ...(about !== undefined && { about }),
  });

const authorOf = ({ tenant_id, app_id }: PaymentRow) => system(tenant_id, app_id);
