import type Stripe from 'stripe';
import {
  chargeFailureOf,
  chargeResultOf,
  failureOf,
  idOf,
  methodOf,
  refundResultOf,
} from './card-answers.ts';
import { cardHttp } from './card-http.ts';
import type { Attachment, Charge, Provider } from './provider.ts';

export interface CardProviderOptions {
  readonly key: string;
  /** Where the provider is reached; '' for its public address. */
  readonly url: string;
  /** How long an answer may take. */
  readonly timeoutMs?: number;
}

/**
 * Moves money over the HTTP API of the card provider, with its own client. The client repeats nothing by itself but a request whose
 * connection was closed: after any other error, the reconciliation repeats it with the same key. An answer that is an object but not the
 * one that was asked for counts as an error, too.
 */
export async function createCardProvider(options: CardProviderOptions): Promise<Provider> {
  const client = await clientOf(options);
  const { paymentIntents: intents, paymentMethods: methods, refunds } = client;
  const lookup: Provider['lookup'] = ({ processorId, source }) =>
    intents
      .retrieve(processorId)
      .then((intent) => chargeResultOf(intent, source !== undefined))
      .catch(chargeFailureOf);
  return {
    name: 'card-provider',
    lookup,

    charge: (charge) =>
      intents
        .create(intentOf(charge), { idempotencyKey: charge.id })
        .then((intent) => chargeResultOf(intent, charge.source !== undefined))
        .catch(chargeFailureOf),

    async cancel(charge) {
      try {
        return chargeResultOf(await intents.cancel(charge.processorId), true);
      } catch (error) {
        // What has already ended cannot be canceled; only the provider knows how it ended.
        return failureOf(error).state === 'rejected' ? await lookup(charge) : chargeFailureOf(error);
      }
    },

    refund: ({ id, paymentId, tenant, processorId, amount }) =>
      refunds
        .create(
          {
            ...{ payment_intent: processorId, amount: Number(amount), expand: ['charge'] },
            metadata: { refund_id: id, payment_id: paymentId, tenant_id: tenant },
          },
          { idempotencyKey: id },
        )
        .then(refundResultOf)
        .catch(failureOf),

    async findRefund({ id, processorId }) {
      try {
        const made = refunds.list({ payment_intent: processorId, limit: 100, expand: ['data.charge'] });
        for await (const one of made) if (one.metadata?.['refund_id'] === id) return refundResultOf(one);
        return { state: 'absent' };
      } catch (error) {
        // Who does not say what there is has not said that there is nothing.
        return { state: 'unknown', cause: error };
      }
    },

    attach: (attachment) =>
      attached(client, attachment)
        .then((method) => ({ state: 'attached', method }) as const)
        .catch(failureOf),

    detach: ({ processorId }) =>
      methods
        .detach(processorId)
        .then(() => ({ state: 'detached' }) as const)
        .catch(failureOf),
  };
}

/** The client is loaded by those servers only that use it. */
async function clientOf({ key, url, timeoutMs = 30_000 }: CardProviderOptions): Promise<Stripe> {
  const { default: Client } = await import('stripe');
  const address = url === '' ? undefined : new URL(url);
  return new Client(key, {
    ...{ timeout: timeoutMs, maxNetworkRetries: 0, telemetry: false, httpClient: cardHttp() },
    ...(address !== undefined && {
      protocol: address.protocol === 'http:' ? 'http' : 'https',
      host: address.hostname,
      port: address.port === '' ? (address.protocol === 'http:' ? 80 : 443) : Number(address.port),
    }),
  });
}

function intentOf({ id, tenant, amount, currency, source }: Charge): Stripe.PaymentIntentCreateParams {
  return {
    ...{ amount: Number(amount), currency, metadata: { payment_id: id, tenant_id: tenant } },
    ...(source === undefined
      ? { automatic_payment_methods: { enabled: true } }
      : { payment_method: source.processorId, off_session: true, confirm: true }),
    ...(source?.customerId != null && { customer: source.customerId }),
  };
}

/** A method can be charged again only when it belongs to a customer of the provider. */
async function attached(client: Stripe, { id, token, tenant, customer }: Attachment) {
  const keyed = (step: string) => ({ idempotencyKey: `${id}_${step}` });
  const metadata = { customer_id: customer.id, tenant_id: tenant };
  const customerId =
    customer.processorId ??
    idOf(
      await client.customers.create({ metadata }, { idempotencyKey: `${customer.id}_customer` }),
      'customer',
    );
  const method = token.startsWith('tok_')
    ? idOf(
        await client.paymentMethods.create({ type: 'card', card: { token } }, keyed('create')),
        'payment_method',
      )
    : token;
  return methodOf(
    await client.paymentMethods.attach(method, { customer: customerId }, keyed('attach')),
    customerId,
  );
}
