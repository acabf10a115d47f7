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
  if (!isOfProvider(thrown)) return { state: 'unknown', cause: thrown };
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
  return { ...failure, ...(processorId !== undefined && { processorId }) };
}

const isOfProvider = (thrown: unknown): thrown is CardProviderError =>
  thrown instanceof Error && 'type' in thrown && typeof thrown.type === 'string';

/** `card_declined` has a more telling reason beside it, unless the bank gave none. */
function declineOf({ code, decline_code }: Partial<CardProviderError>): string {
  const reason = code === 'card_declined' && decline_code !== 'generic_decline' ? decline_code : undefined;
  return textOf(reason, textOf(code, 'card_declined'));
}

/** Texts of the provider end up in columns and responses of bounded length. */
const textOf = (text: string | undefined, otherwise: string): string =>
  text === undefined || text === '' ? otherwise : text.replaceAll('\0', '').toWellFormed().slice(0, 255);

/** What has become of an intent. Without a method, the payer may try again after a failure. */
export function chargeResultOf(intent: Stripe.PaymentIntent, hasSource: boolean): ChargeResult {
  const { id: processorId, status, client_secret: secret, last_payment_error: failure } = intent;
  if (status === 'succeeded')
    return {
      ...{ state: 'succeeded', processorId },
      ...{ amount: BigInt(intent.amount_received), currency: intent.currency },
    };
  if (status === 'canceled') return { state: 'canceled', processorId };
  if (status === 'requires_payment_method' && hasSource && failure)
    return {
      ...{ state: 'failed', processorId, code: declineOf(failure) },
      message: textOf(failure.message, 'the card was declined'),
    };
  const nextAction = secret === null ? null : ({ type: 'client_secret', value: secret } as const);
  return { state: 'pending', processorId, nextAction };
}

/** A refund that the bank still has to carry out counts as made: it is out of our hands. */
export function refundResultOf({ id, status, charge }: Stripe.Refund): RefundResult {
  if (status === 'failed' || status === 'canceled')
    return { state: 'failed', code: 'refund_failed', message: 'the refund failed' };
  const total = typeof charge === 'object' && charge !== null ? BigInt(charge.amount_refunded) : undefined;
  return { state: 'succeeded', processorId: id, ...(total !== undefined && { total }) };
}

/** What people recognise a method by. */
export function methodOf(
  { id, type, card, ...rest }: Stripe.PaymentMethod,
  customerId: string,
): AttachedMethod {
  const own = { processorId: id, customerId };
  if (card) {
    const { last4, brand, exp_month: expiryMonth, exp_year: expiryYear } = card;
    return {
      ...own,
      type: 'card',
      last4,
      brand: textOf(brand, 'unknown').slice(0, 64),
      expiryMonth,
      expiryYear,
    };
  }
  const { last4 = null, bank_name: bank = null } = rest.us_bank_account ?? {
    ...rest.sepa_debit,
    bank_name: null,
  };
  const isAccount = type === 'us_bank_account' || type === 'sepa_debit';
  return {
    ...{ ...own, type: isAccount ? 'bank_account' : 'other', last4, expiryMonth: null, expiryYear: null },
    brand: bank === null ? null : textOf(bank, 'unknown').slice(0, 64),
  };
}
