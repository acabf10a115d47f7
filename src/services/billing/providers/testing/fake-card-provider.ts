import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** What the provider answers. */
interface Answer {
  readonly status: number;
  readonly body: object;
}

/** A charge as the fake keeps it. */
export interface FakeIntent {
  readonly id: string;
  readonly amount: number;
  readonly currency: string;
  readonly metadata: Record<string, string>;
  status: string;
  refunded: number;
  readonly refunds: FakeRefund[];
}

/** A refund as the fake keeps it. */
export interface FakeRefund {
  readonly id: string;
  readonly amount: number;
  readonly metadata: Record<string, string>;
}

/**
 * What becomes of requests: the connection may end or wait, before or after they are carried out. `fails` is an internal error,
 * `refuses` an error about the credentials, and `garblesAfter` an answer that is JSON and no object, as a proxy may give it.
 */
export type Behaviour =
  | 'answers'
  | 'fails'
  | 'refuses'
  | 'garblesAfter'
  | 'hangsUpBefore'
  | 'hangsUpAfter'
  | 'waitsBefore'
  | 'waitsAfter';

/** As much of the card provider's HTTP API as billing uses, with idempotency keys, in this process. */
export interface FakeCardProvider {
  readonly url: string;
  readonly intents: Map<string, FakeIntent>;
  /** The requests so far, as `POST /v1/refunds`. */
  readonly requests: string[];
  behaviour: Behaviour;
  /** Ends the connections that wait, and those of the client's second attempts. */
  hangUp(): void;
  close(): Promise<void>;
}

const declined = (intent: FakeIntent, code: string): Answer => ({
  status: 402,
  body: {
    error: {
      ...{
        type: 'card_error',
        code: 'card_declined',
        decline_code: code,
        message: 'Your card was declined.',
      },
      payment_intent: { id: intent.id, object: 'payment_intent' },
    },
  },
});
const refused = (message: string, status = 400): Answer => ({
  status,
  body: { error: { type: 'invalid_request_error', message } },
});
const newId = (prefix: string) => `${prefix}_${randomBytes(8).toString('hex')}`;
const shown = ({ refunded: _, refunds: __, ...intent }: FakeIntent) => ({
  ...{ object: 'payment_intent', client_secret: `${intent.id}_secret`, last_payment_error: null },
  ...{ ...intent, amount_received: intent.status === 'succeeded' ? intent.amount : 0 },
});

const refundOf = (intent: FakeIntent, refund: FakeRefund) => ({
  ...{ ...refund, object: 'refund', status: 'succeeded' },
  charge: { id: `ch_${intent.id}`, object: 'charge', amount_refunded: intent.refunded },
});

type Form = URLSearchParams;
type Route = (form: Form, id: string) => Answer;

const metadataOf = (form: Form): Record<string, string> =>
  Object.fromEntries(
    [...form].flatMap(([name, value]) => {
      const key = /^metadata\[(\w+)\]$/.exec(name)?.[1];
      return key === undefined ? [] : [[key, value]];
    }),
  );

function routesOf(intents: Map<string, FakeIntent>): Record<string, Route> {
  const found = (id: string, use: (intent: FakeIntent) => Answer): Answer => {
    const intent = intents.get(id);
    return intent === undefined ? refused(`No such payment_intent: ${id}`, 404) : use(intent);
  };
  const ok = (body: object): Answer => ({ status: 200, body });
  const card = (id: string, customer: string | null) =>
    ok({
      ...{ id, object: 'payment_method', type: 'card', customer },
      card: { brand: 'mastercard', last4: '4444', exp_month: 4, exp_year: 2031 },
    });
  return {
    'POST /v1/customers': () => ok({ id: newId('cus'), object: 'customer' }),
    'POST /v1/payment_methods': (form) => card(`pm_${form.get('card[token]')}`, null),
    'POST /v1/payment_methods/:id/attach': (form, id) =>
      id.endsWith('expiredCard')
        ? { status: 402, body: { error: { type: 'card_error', code: 'expired_card', message: 'Expired.' } } }
        : card(id, form.get('customer')),
    'POST /v1/payment_methods/:id/detach': (_, id) => card(id, null),
    'POST /v1/payment_intents'(form) {
      const amount = Number(form.get('amount'));
      if (amount > 99_999_999) return refused('Amount must be no more than $999,999.99');
      const method = form.get('payment_method');
      const status = method === null || method.endsWith('declined') ? 'requires_payment_method' : 'succeeded';
      const currency = form.get('currency') ?? '';
      const intent = {
        ...{ id: newId('pi'), amount, currency, metadata: metadataOf(form), status },
        ...{ refunded: 0, refunds: [] },
      };
      intents.set(intent.id, intent);
      return method?.endsWith('declined') === true
        ? declined(intent, 'insufficient_funds')
        : ok(shown(intent));
    },
    'GET /v1/payment_intents/:id': (_, id) => found(id, (intent) => ok(shown(intent))),
    'POST /v1/payment_intents/:id/cancel': (_, id) =>
      found(id, (intent) => {
        if (intent.status === 'succeeded') return refused('You cannot cancel this PaymentIntent.');
        intent.status = 'canceled';
        return ok(shown(intent));
      }),
    'POST /v1/refunds': (form) =>
      found(form.get('payment_intent') ?? '', (intent) => {
        const amount = Number(form.get('amount'));
        if (intent.refunded + amount > intent.amount) return refused('Refund amount is too large.');
        intent.refunded += amount;
        const refund = { id: newId('re'), amount, metadata: metadataOf(form) };
        intent.refunds.push(refund);
        return ok(refundOf(intent, refund));
      }),
    'GET /v1/refunds': (query) =>
      found(query.get('payment_intent') ?? '', (intent) => {
        const data = intent.refunds.map((refund) => refundOf(intent, refund));
        return ok({ object: 'list', url: '/v1/refunds', has_more: false, data });
      }),
  };
}

/** Starts the fake on a free port. */
export async function fakeCardProvider(): Promise<FakeCardProvider> {
  const intents = new Map<string, FakeIntent>();
  const routes = routesOf(intents);
  const kept = new Map<string, Answer>();
  const requests: string[] = [];
  const left = new Set<ServerResponse>();
  const provider = { behaviour: 'answers' as Behaviour };

  function carryOut(request: IncomingMessage, form: Form): Answer {
    const [url = '', query = ''] = (request.url ?? '').split('?');
    const [, path = '', id = ''] = /^(\/v1\/\w+(?=\/))\/([^/]+)/.exec(url) ?? /^(\/v1\/\w+)$/.exec(url) ?? [];
    const rest = id === '' ? '' : `/:id${url.slice(path.length + id.length + 1)}`;
    const route = routes[`${request.method} ${path}${rest}`];
    if (route === undefined) return refused('Unrecognized request URL', 404);
    const key = request.headers['idempotency-key'];
    const answer =
      (typeof key === 'string' ? kept.get(key) : undefined) ??
      route(request.method === 'GET' ? new URLSearchParams(query) : form, id);
    if (typeof key === 'string') kept.set(key, answer);
    return answer;
  }

  const server = createServer((request, response) => {
    void text(request).then((body) => {
      requests.push(`${request.method} ${request.url}`);
      if (provider.behaviour === 'fails' || provider.behaviour === 'refuses') {
        response
          .writeHead(provider.behaviour === 'fails' ? 500 : 401, { 'Content-Type': 'application/json' })
          .end('{"error":{"type":"api_error"}}');
        return;
      }
      if (provider.behaviour === 'waitsBefore') return void left.add(response);
      if (provider.behaviour === 'hangsUpBefore') return void response.destroy();
      const answer = carryOut(request, new URLSearchParams(body));
      if (provider.behaviour === 'waitsAfter') return void left.add(response);
      if (provider.behaviour === 'hangsUpAfter') return void response.destroy();
      if (provider.behaviour === 'garblesAfter') {
        response
          .writeHead(200, { 'Content-Type': 'application/json' })
          .end(requests.length % 2 === 0 ? 'null' : '"bad gateway"');
        return;
      }
      response
        .writeHead(answer.status, { 'Content-Type': 'application/json' })
        .end(JSON.stringify(answer.body));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return Object.assign(provider, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    intents,
    requests,
    hangUp() {
      provider.behaviour = 'hangsUpBefore';
      for (const response of left) response.destroy();
      left.clear();
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  });
}
