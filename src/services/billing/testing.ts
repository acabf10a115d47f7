import type { Customer, Invoice, Plan, Subscription } from '../../../generated/billing/types.ts';
import type { Clock } from '../../db/clock.ts';
import {
  testServer,
  type TestRequest,
  type TestResponse,
  type TestServer,
  type TestServerOptions,
} from '../../testing/server.ts';
import { billingBy } from './index.ts';

/** The server through which a test sends requests: one in this process, or one of its own. */
export type Api = Pick<TestServer, 'request'>;

/** A clock that a test turns. It stands still in between. */
export class TestClock implements Clock {
  #now: number;

  constructor(at: string) {
    this.#now = Date.parse(at);
  }

  now(): number {
    return this.#now;
  }

  /** Turns the clock to a time, or on by a number of milliseconds. */
  turn(to: string | number): void {
    this.#now = typeof to === 'string' ? Date.parse(to) : this.#now + to;
  }
}

/** A server whose billing goes by a clock of the test, and whose sweeps run only when the test asks. */
export const serverBy = (clock: Clock, options: Partial<TestServerOptions> = {}): Promise<TestServer> =>
  testServer({
    services: ['billing'],
    ...options,
    env: { PLINTH_BILLING_TICK: '0s', ...options.env },
    modules: [billingBy(clock)],
  });

/** An amount of US cents. */
export const usd = (amount: number) => ({ amount, currency: 'usd' });

/** A plan of 49 dollars a month with calls at half a cent beyond 10,000, and 20 seats. */
export const pro = {
  name: 'Pro',
  currency: 'usd',
  features: [
    { key: 'api_calls', name: 'API calls', type: 'metered' },
    { key: 'seats', name: 'Seats', type: 'seat', limit: 20 },
    { key: 'sso', name: 'Single sign-on', type: 'boolean' },
  ],
  pricing: {
    base_amount: usd(4900),
    tiers: [
      { feature_key: 'api_calls', up_to: 10_000 },
      { feature_key: 'api_calls', up_to: -1, unit_amount_decimal: '0.5' },
    ],
  },
};

interface Refusal {
  readonly error: { readonly code: string; readonly message: string };
}

/** Short helpers for the tests of this service. Each expects success; the tests themselves check refusals. */
export const tools = (api: Api) => {
  const send = async (
    method: string,
    path: string,
    options: TestRequest = {},
  ): Promise<TestResponse['body']> => {
    const answer = await api.request(method, `/billing${path}`, options);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  };
  let slugs = 0;
  return {
    send,
    plan: (body: object = {}): Promise<Plan> =>
      send('POST', '/billing/plans', { body: { slug: `offer-${(slugs += 1)}`, ...pro, ...body } }),
    customer: (tenant_id: string, body: object = {}): Promise<Customer> =>
      send('POST', '/billing/customers', {
        body: { tenant_id, name: 'Acme GmbH', email: `billing@${tenant_id}.example`, ...body },
      }),
    subscribe: (tenant_id: string, plan: Pick<Plan, 'id'>, body: object = {}): Promise<Subscription> =>
      send('POST', '/billing/subscriptions', { body: { tenant_id, plan_id: plan.id, ...body } }),
    subscription: (id: string): Promise<Subscription> => send('GET', `/billing/subscriptions/${id}`),
    /** Records usage of a tenant. */
    use: (tenant_id: string, feature_key: string, quantity: number, body: object = {}) =>
      send('POST', '/billing/meter/events', { body: { tenant_id, feature_key, quantity, ...body } }),
    /** Drafts an invoice. */
    draft: (subscription: Pick<Subscription, 'id'>): Promise<Invoice> =>
      send('POST', '/billing/invoices', { body: { subscription_id: subscription.id } }),
    finalize: ({ id }: Pick<Invoice, 'id'>): Promise<Invoice> =>
      send('POST', `/billing/invoices/${id}/finalize`),
    invoice: (id: string): Promise<Invoice> => send('GET', `/billing/invoices/${id}`),
    /** The invoices of a subscription with their lines, oldest first. */
    async invoices({ id }: Pick<Subscription, 'id'>): Promise<Invoice[]> {
      const { data } = (await send('GET', `/billing/invoices?limit=100&subscription_id=${id}`)) as {
        data: Invoice[];
      };
      return await Promise.all(
        data.reverse().map((one) => send('GET', `/billing/invoices/${one.id}`) as Promise<Invoice>),
      );
    },
    /** Sends a request again for as long as a server with too much to do asks for that. */
    async insist(method: string, path: string, options: TestRequest = {}): Promise<TestResponse> {
      for (;;) {
        const answer = await api.request(method, `/billing${path}`, options);
        const { code } = (answer.body as Partial<Refusal> | null)?.error ?? {};
        if (code !== 'rate_limited' && code !== 'store_unavailable') return answer;
      }
    },
    /** Returns the status, the code and the message, which most refusal tests compare. */
    async refusal(
      method: string,
      path: string,
      options: TestRequest = {},
    ): Promise<[status: number, code: string, message: string]> {
      const answer = await api.request(method, `/billing${path}`, options);
      const { error } = (answer.body ?? {}) as Partial<Refusal>;
      return [answer.status, error?.code ?? '', error?.message ?? ''];
    },
  };
};
