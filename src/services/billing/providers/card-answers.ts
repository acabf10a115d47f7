import type Stripe from 'stripe';
import type { AttachedMethod, ChargeResult, Failure, RefundResult } from './provider.ts';

/** What the client of the card provider throws. The names of the types are the client's own. */
interface CardProviderError {
  readonly type: string;
  readonly statusCode?: number;
  readonly code?: string;
  readonly decline_code?: string;
  readonly message: string;
  readonly payment_intent?: { readonly id: string };
}

/** Errors after which it is certain that nothing happened. */
const certain: ReadonlySet<string> = new Set([
  'StripeInvalidRequestError',
  'StripeAuthenticationError',
  'StripePermissionError',
]);

/**
 * What an error means. Whatever is not certain counts as unknown, such as a request that is limited, an internal error over there, or
 * a key that is still in use: then the same request is repeated later.
 */
export function failureOf(thrown: unknown): Failure {
  // Whatever stands between the provider and us may repeat an error of the provider in one of its own.
  if (!isOfProvider(thrown) || (thrown.statusCode ?? 0) >= 500) return { state: 'unknown', cause: thrown };
  if (thrown.type === 'StripeCardError')
    return {
      state: 'failed',
      code: declineOf(thrown),
      message: textOf(thrown.message, 'the card was declined'),
    };
  return certain.has(thrown.type)
    ? { state: 'rejected', cause: thrown }
    : { state: 'unknown', cause: thrown };
}

/** The same for a charge: the provider keeps one that was declined. */
export function chargeFailureOf(thrown: unknown): ChargeResult {
  const failure = failureOf(thrown);
  if (failure.state !== 'failed') return failure;
  const processorId = isOfProvider(thrown) ? thrown.payment_intent?.id : undefined;
  return { ...failure, ...(typeof processorId === 'string' && { processorId }) };
}

const isOfProvider = (thrown: unknown): thrown is CardProviderError =>
  thrown instanceof Error && 'type' in thrown && typeof thrown.type === 'string';

/** `card_declined` has a more telling reason beside it, unless the bank gave none. */
function declineOf({ code, decline_code }: Partial<CardProviderError>): string {
  const reason = code === 'card_declined' && decline_code !== 'generic_decline' ? decline_code : undefined;
  return textOf(reason, textOf(code, 'card_declined'));
}

/** Texts of the provider end up in columns and responses of bounded length. */
const textOf = (text: unknown, otherwise: string): string =>
  typeof text !== 'string' || text === ''
    ? otherwise
    : text.replaceAll('\0', '').toWellFormed().slice(0, 255);

/** The id of what was asked for, without which an answer is about something else. @throws TypeError */
export function idOf(
  { id, object }: { readonly id: unknown; readonly object?: unknown },
  kind: string,
): string {
  if (typeof id === 'string' && id !== '' && id.length <= 255 && object === kind) return id;
  throw new TypeError(`the answer is no ${kind}`);
}

/** @throws TypeError */
function amountOf(amount: unknown): bigint {
  if (typeof amount === 'number' && Number.isSafeInteger(amount) && amount >= 0) return BigInt(amount);
  throw new TypeError('the answer has no amount');
}

/** What has become of an intent. Without a method, the payer may try again after a failure. */
export function chargeResultOf(intent: Stripe.PaymentIntent, hasSource: boolean): ChargeResult {
  const { status, client_secret: secret, last_payment_error: failure } = intent;
  const processorId = idOf(intent, 'payment_intent');
  if (status === 'succeeded')
    return {
      ...{ state: 'succeeded', processorId },
      ...{ amount: amountOf(intent.amount_received), currency: textOf(intent.currency, '') },
    };
  if (status === 'canceled') return { state: 'canceled', processorId };
  if (status === 'requires_payment_method' && hasSource && failure)
    return {
      ...{ state: 'failed', processorId, code: declineOf(failure) },
      message: textOf(failure.message, 'the card was declined'),
    };
  const nextAction = typeof secret !== 'string' ? null : ({ type: 'client_secret', value: secret } as const);
  return { state: 'pending', processorId, nextAction };
}

/** A refund that the bank still has to carry out counts as made: it is out of our hands. */
export function refundResultOf(refund: Stripe.Refund): RefundResult {
  const { status, charge } = refund;
  const processorId = idOf(refund, 'refund');
  if (status === 'failed' || status === 'canceled')
    return { state: 'failed', code: 'refund_failed', message: 'the refund failed' };
  const total = typeof charge === 'object' && charge !== null ? amountOf(charge.amount_refunded) : undefined;
  return { state: 'succeeded', processorId, ...(total !== undefined && { total }) };
}

/** What people recognise a method by. */
export function methodOf(method: Stripe.PaymentMethod, customerId: string): AttachedMethod {
  const { type, card, ...rest } = method;
  const own = { processorId: idOf(method, 'payment_method'), customerId };
  if (card) {
    const { last4, brand, exp_month, exp_year } = card;
    return {
      ...{ ...own, type: 'card', last4: digitsOf(last4), brand: textOf(brand, 'unknown').slice(0, 64) },
      ...{ expiryMonth: within(exp_month, 1, 12), expiryYear: within(exp_year, 2000, 9999) },
    };
  }
  const { last4 = null, bank_name: bank = null } = rest.us_bank_account ?? {
    ...rest.sepa_debit,
    bank_name: null,
  };
  const isAccount = type === 'us_bank_account' || type === 'sepa_debit';
  return {
    ...{
      ...own,
      type: isAccount ? 'bank_account' : 'other',
      last4: digitsOf(last4),
      expiryMonth: null,
      expiryYear: null,
    },
    brand: bank === null ? null : textOf(bank, 'unknown').slice(0, 64),
  };
}

const digitsOf = (last4: unknown): string | null =>
  typeof last4 === 'string' && /^[0-9]{4}$/.test(last4) ? last4 : null;

const within = (value: unknown, least: number, most: number): number | null =>
  typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most ? value : null;
