import type { NotificationReceipt } from '../../../../generated/billing/types.ts';
import type { Notifications } from '../../../../generated/billing/server.ts';
import type { Context } from '../../../http/context.ts';
import { UnsupportedMediaType } from '../../../lib/errors.ts';
import { Refused } from '../errors.ts';
import type { PaymentDeps } from '../payments/deps.ts';
import { settle } from '../payments/outcomes.ts';
import { paymentStore } from '../payments/payments.store.ts';
import { testedPayment } from '../providers/test-provider.ts';
import { system } from '../writes.ts';
import {
  billingEventOf,
  billingNotice,
  cardEventOf,
  cardNotice,
  type Notice,
  type ProviderEvent,
} from './notice.ts';
import { providerEventStore } from './provider-events.store.ts';
import type { Secrets } from './secrets.ts';
import { isSignedByBillingProvider, isSignedByCardProvider } from './signatures.ts';

export interface NotificationDeps extends PaymentDeps {
  readonly secrets: Secrets;
}

type Provider = 'card-provider' | 'billing-provider';

/** Notifications: payment providers report the outcome of payments. The signature covers the bytes, so it is checked before parsing. */
export const notifications = (deps: NotificationDeps) => {
  const { clock, secrets } = deps;
  return {
    async cardProvider({ 'Content-Encoding': encoding, body, ...headers }) {
      checkEncoding(encoding);
      const bytes = await read(body);
      const signatures = [headers['CardProvider-Signature'], headers['Stripe-Signature']];
      checkSigned(signatures, (header) =>
        isSignedByCardProvider({ header, body: bytes }, secrets.card, clock.now()),
      );
      const event = cardEventOf(bytes);
      return await apply(deps, 'card-provider', event, cardNotice(event));
    },

    async billingProvider({ 'Content-Encoding': encoding, body, ...headers }) {
      checkEncoding(encoding);
      const bytes = await read(body);
      const signatures = [headers['BillingProvider-Signature'], headers['Paddle-Signature']];
      checkSigned(signatures, (header) =>
        isSignedByBillingProvider({ header, body: bytes }, secrets.billing, clock.now()),
      );
      const event = billingEventOf(bytes);
      return await apply(deps, 'billing-provider', event, billingNotice(event));
    },
  } satisfies Notifications<Context>;
};

/** The signature covers the bytes that the provider meant to send. */
function checkEncoding(encoding = 'identity'): void {
  if (encoding.toLowerCase() !== 'identity') throw UnsupportedMediaType('content-encoding: must be identity');
}

/**
 * A provider sends its signature under a name of its own, and what stands in between may give it the name of the contract. If both are
 * there, both must be valid: which of them was added on the way cannot be known.
 * @throws Refused `invalid_signature`
 */
function checkSigned(headers: readonly (string | undefined)[], isValid: (header: string) => boolean): void {
  const sent = headers.filter((header) => header !== undefined);
  if (sent.length === 0 || !sent.every(isValid)) throw WrongSignature();
}

const WrongSignature = () =>
  Refused('invalid_signature', 'signature is not valid', { kind: 'unauthenticated' });

/** The frame limits the size. */
async function read(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** The event is noted in the transaction of its effect, so that it has it once, and a repeat of one that failed has it then. */
async function apply(
  deps: NotificationDeps,
  provider: Provider,
  event: ProviderEvent,
  notice: Notice | undefined,
): Promise<NotificationReceipt> {
  const payment = notice && (await paymentOf(deps, provider, notice));
  if (notice === undefined || payment === undefined) {
    deps.log.info(
      { provider, event: event.id, type: event.type },
      'a notification concerns nothing that is known',
    );
    return { received: true, handled: false };
  }
  const handled = await deps.write(system(payment.tenant_id, payment.app_id), async (tx) => {
    const [store, at] = [providerEventStore(tx.sql), deps.clock.now()];
    if (!(await store.note(provider, notice.eventId, at))) return false;
    if (notice.onceFor !== undefined && !(await store.note(provider, notice.onceFor, at))) return false;
    const processorId = notice.processorId === '' ? null : notice.processorId;
    return (await settle(tx, deps, payment, notice.outcome, processorId)).isChanged;
  });
  return { received: true, handled };
}

/** Payments of the built-in provider are told of through either endpoint. */
const paymentOf = ({ db }: NotificationDeps, provider: Provider, { processorId, paymentId }: Notice) =>
  paymentStore(db.sql).spokenOf([provider, 'test'], processorId, testedPayment(processorId) ?? paymentId);
