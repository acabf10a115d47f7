import type { ErrorCode, ErrorDetails, ErrorInfo, ErrorType } from '../../../generated/billing/types.ts';
import type { Constraints } from '../../db/constraints.ts';
import { DomainError, type ErrorKind, type ErrorOptions } from '../../lib/errors.ts';

/** The codes of failures that are not the service's own. */
const codes: Partial<Record<ErrorKind, ErrorCode>> = {
  invalid: 'invalid_input',
  unauthenticated: 'unauthorized',
  paymentRequired: 'payment_failed',
  forbidden: 'forbidden',
  notFound: 'not_found',
  conflict: 'duplicate_idempotency_key',
  tooLarge: 'too_large',
  unsupportedMediaType: 'unsupported_media_type',
  rateLimited: 'rate_limited',
  notImplemented: 'not_implemented',
  gatewayTimeout: 'provider_timeout',
  unavailable: 'store_unavailable',
  storeUnavailable: 'store_unavailable',
  storeFull: 'store_unavailable',
};

const types: Readonly<Record<number, ErrorType>> = {
  402: 'payment',
  404: 'not_found',
  409: 'conflict',
  429: 'server',
};

/** The service's error envelope. A message that begins with the name of a field names it in `param`, too. */
export function encodeError(
  { kind, message, retryAfter, details = {} }: DomainError,
  status: number,
): { error: ErrorInfo } {
  // What may succeed in a second found the database busy.
  const internal = retryAfter === undefined ? 'internal_error' : 'store_unavailable';
  const { code = codes[kind] ?? internal, about } = details as Marks;
  const param = paramIn(message);
  return {
    error: {
      code,
      message: kind === 'unauthenticated' && details['code'] === undefined ? 'Unauthorized' : message,
      type: typeOf(code, status),
      ...(param !== undefined && (status === 400 || status === 409) && { param }),
      ...(about !== undefined && { details: about }),
    },
  };
}

/** The field with which a message begins, `events.3.quantity`: the frame writes `events[3].quantity`. */
const paramIn = (message: string): string | undefined =>
  /^([A-Za-z_][\w.[\]-]*): /.exec(message)?.[1]?.replaceAll(/\[(\d+)\]/g, '.$1');

const typeOf = (code: ErrorCode, status: number): ErrorType =>
  code.startsWith('provider_') ? 'provider' : (types[status] ?? (status >= 500 ? 'server' : 'validation'));

/** What an error of the service carries besides its message. */
interface Marks {
  readonly code?: ErrorCode;
  readonly about?: ErrorDetails;
}

interface RefusalOptions extends Pick<ErrorOptions, 'cause' | 'retryAfter'> {
  readonly kind?: ErrorKind;
  /** Machine-readable details. */
  readonly about?: ErrorDetails;
}

/** An error with a code of the service; `message` is `<field>: <problem>` when a field is at fault. */
export const Refused = (
  code: ErrorCode,
  message: string,
  { kind = 'invalid', about, ...options }: RefusalOptions = {},
): DomainError =>
  new DomainError(kind, message, { ...options, details: { code, ...(about !== undefined && { about }) } });

/** The code of an error, where it is one of the service's own. */
export const codeOf = (error: DomainError): ErrorCode | undefined =>
  (error.details as Marks | undefined)?.code;

const missing = (code: ErrorCode, what: string) => () =>
  Refused(code, `${what} not found`, { kind: 'notFound' });

export const PlanNotFound = missing('plan_not_found', 'plan');
export const SubscriptionNotFound = missing('subscription_not_found', 'subscription');
export const FeatureNotFound = missing('feature_not_found', 'feature');
export const InvoiceNotFound = missing('invoice_not_found', 'invoice');
export const PaymentNotFound = missing('payment_not_found', 'payment');
export const CustomerNotFound = missing('customer_not_found', 'customer');
export const CouponNotFound = missing('coupon_not_found', 'coupon');
export const PaymentMethodNotFound = missing('not_found', 'payment method');
export const UsageEventNotFound = missing('not_found', 'usage event');
export const TaxRateNotFound = missing('not_found', 'tax rate');

export const InvalidState = (message: string) => Refused('invalid_state', message);

/** An idempotency key that another body was sent with. */
export const KeyReused = () =>
  Refused('duplicate_idempotency_key', 'idempotency_key: was used with another body', { kind: 'conflict' });

const taken = (code: ErrorCode, message: string) => () => Refused(code, message, { kind: 'conflict' });

/** Violations that a concurrent request may cause. */
export const constraints: Constraints = {
  plan_slug: taken('already_exists', 'slug: already exists'),
  coupon_code: taken('already_exists', 'code: already exists'),
  tax_rate_region: taken('already_exists', 'country: has a rate for this state already'),
  customer_email: taken('duplicate_customer_email', 'email: belongs to another customer'),
  subscription_live: taken('subscription_exists', 'tenant has a live subscription'),
  redemption_pkey: taken('already_exists', 'coupon was redeemed for this subscription already'),
  balance_entry_key: KeyReused,
  payment_key: KeyReused,
};
