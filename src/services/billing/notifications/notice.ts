import { scanJson } from '../../../http/json-scan.ts';
import { Refused } from '../errors.ts';
import { isCurrency } from '../money/money.ts';
import type { Outcome } from '../payments/outcome.ts';

/** What a notification says of a payment. */
export interface Notice {
  /** The id of the event at the provider. */
  readonly eventId: string;
  /** The ids of the payment: the provider's, and ours as it was told. Either is '' when the event does not have it. */
  readonly processorId: string;
  readonly paymentId: string;
  readonly outcome: Outcome;
  /** What the event counts, when several events may tell of the same. */
  readonly onceFor?: string;
}

/** An event of a provider, of which only the shape around its object is certain. */
export interface ProviderEvent {
  readonly id: string;
  readonly type: string;
  readonly object: Fields;
}

type Fields = Readonly<Record<string, unknown>>;

export const NotAnEvent = () => Refused('invalid_payload', 'body: not an event');

/** The event in the body of the card provider. @throws Refused `invalid_payload` */
export function cardEventOf(body: Buffer): ProviderEvent {
  const { id, type, data } = parsed(body);
  return { id: identifier(id), type: identifier(type), object: fields(fields(data)['object']) };
}

/** The event in the body of the billing provider. @throws Refused `invalid_payload` */
export function billingEventOf(body: Buffer): ProviderEvent {
  const { event_id: id, event_type: type, data } = parsed(body);
  return { id: identifier(id), type: identifier(type), object: fields(data) };
}

/**
 * What an event of the card provider says; undefined for those that say nothing about a payment.
 * @throws Refused `invalid_payload`
 */
export function cardNotice({ id, type, object }: ProviderEvent): Notice | undefined {
  const notice = (processorId: unknown, outcome: Outcome): Notice => ({
    ...{ eventId: id, processorId: identifierIn(processorId), outcome },
    paymentId: identifierIn(optionalFields(object['metadata'])['payment_id']),
  });
  switch (type) {
    case 'payment_intent.succeeded':
      return notice(object['id'], {
        ...{ kind: 'succeeded', ...money('amount', object['amount_received'] ?? object['amount']) },
        ...currencyOf(object['currency']),
      });
    case 'payment_intent.payment_failed':
      return notice(object['id'], failureIn(optionalFields(object['last_payment_error'])));
    case 'payment_intent.canceled':
      return notice(object['id'], { kind: 'canceled' });
    case 'charge.refunded':
      return notice(object['payment_intent'], {
        ...{ kind: 'refunded', ...money('total', object['amount_refunded']) },
        ...currencyOf(object['currency']),
      });
    default:
      return undefined;
  }
}

/**
 * What an event of the billing provider says; undefined for those that say nothing about a payment. Its refunds are not cumulative, and
 * each may be told of several times.
 * @throws Refused `invalid_payload`
 */
export function billingNotice({ id, type, object }: ProviderEvent): Notice | undefined {
  const notice = (processorId: unknown, outcome: Outcome): Notice => ({
    ...{ eventId: id, processorId: identifierIn(processorId), outcome },
    paymentId: identifierIn(optionalFields(object['custom_data'])['payment_id']),
  });
  const currency = currencyOf(object['currency_code']);
  switch (type) {
    case 'transaction.completed': {
      const totals = optionalFields(optionalFields(object['details'])['totals']);
      return notice(object['id'], {
        kind: 'succeeded',
        ...money('amount', totals['grand_total']),
        ...currency,
      });
    }
    case 'transaction.payment_failed': {
      const [attempt] = Array.isArray(object['payments']) ? (object['payments'] as unknown[]) : [];
      return notice(object['id'], failureIn({ code: optionalFields(attempt)['error_code'] }));
    }
    case 'transaction.canceled':
      return notice(object['id'], { kind: 'canceled' });
    case 'adjustment.updated': {
      if (object['action'] !== 'refund' || object['status'] !== 'approved') return undefined;
      const more = money('more', optionalFields(object['totals'])['total']);
      const onceFor = `adjustment ${identifier(object['id'])}`;
      return { ...notice(object['transaction_id'], { kind: 'refunded', ...more, ...currency }), onceFor };
    }
    default:
      return undefined;
  }
}

/** The most members and items of an event; deep or crowded ones would keep the parser busy for long. */
const mostValues = 20_000;

function parsed(body: Buffer): Fields {
  try {
    scanJson(body, mostValues);
    return fields(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)));
  } catch {
    throw NotAnEvent();
  }
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function fields(value: unknown): Fields {
  if (isFields(value)) return value;
  throw NotAnEvent();
}

const optionalFields = (value: unknown): Fields => (isFields(value) ? value : {});

const identifierForm = /^[\x21-\x7e]{1,255}$/;

function identifier(value: unknown): string {
  if (typeof value === 'string' && identifierForm.test(value)) return value;
  throw NotAnEvent();
}

/** The id of something, which may stand there as a whole. */
function identifierIn(value: unknown): string {
  const id = isFields(value) ? value['id'] : value;
  return typeof id === 'string' && identifierForm.test(id) ? id : '';
}

/** An amount of minor units under the name that an outcome has for it. An absent one is the expected one. */
function money<Name extends string>(name: Name, value: unknown): { [Key in Name]?: bigint } {
  if (value === undefined || value === null) return {};
  const isNumber = typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
  const isText = typeof value === 'string' && /^[0-9]{1,15}$/.test(value);
  if (!isNumber && !isText) throw NotAnEvent();
  return { [name]: BigInt(value) } as { [Key in Name]?: bigint };
}

function currencyOf(value: unknown): { currency?: string } {
  if (value === undefined || value === null) return {};
  const currency = typeof value === 'string' ? value.toLowerCase() : '';
  if (!isCurrency(currency)) throw NotAnEvent();
  return { currency };
}

function failureIn({ code, message }: Fields): Outcome {
  const text = (value: unknown, otherwise: string) =>
    typeof value === 'string' && value !== ''
      ? value.replaceAll('\0', '').toWellFormed().slice(0, 255)
      : otherwise;
  return { kind: 'failed', code: text(code, 'payment_failed'), message: text(message, 'the payment failed') };
}
