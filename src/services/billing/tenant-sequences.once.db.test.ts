import fc from 'fast-check';
import { afterAll, beforeAll, it, expect } from 'vitest';
import type {
  Coupon,
  Customer,
  Invoice,
  Payment,
  PaymentMethod,
  Plan,
  Subscription,
} from '../../../generated/billing/types.ts';
import type { TestResponse, TestServer } from '../../testing/server.ts';
import { serverBy, TestClock, tools } from './testing.ts';
import { sweeping } from './testing/sweeping.ts';
import {
  type Action,
  couponOf,
  firstDay,
  type Gift,
  gifts,
  lastsMs,
  leastBill,
  type Lived,
  offers,
  planOf,
  sequences,
  type Step,
  type Used,
} from './testing/tenant-sequences.ts';

const clock = new TestClock(firstDay);
const dayMs = 86_400_000;
let server: TestServer;
let api: ReturnType<typeof tools>;
let sweep: () => Promise<void>;
let plans: Plan[];
let coupons: Coupon[];
let tenants = 0;
beforeAll(async () => {
  clock.turn(-dayMs);
  server = await serverBy(clock);
  api = tools(server);
  sweep = sweeping(server, clock);
  plans = [];
  for (const [at, offer] of offers.entries())
    plans.push(await api.send('POST', '/billing/plans', { body: planOf(offer, at) }));
  coupons = [];
  for (const [at, gift] of gifts.entries())
    coupons.push(await api.send('POST', '/billing/coupons', { body: couponOf(gift, `GIFT${at}`) }));
});
afterAll(() => server.close());

/** One tenant that acts with its own credential, and what has happened to it. */
class Actor {
  readonly tenant = `acting-${(tenants += 1)}`;
  readonly lived: Lived[] = [];
  readonly used: Used[] = [];
  readonly given = new Set<Gift>();
  trialStart: number | undefined;
  #trialId: string | undefined;
  #current: { readonly id: string; readonly planId: string; readonly since: number } | undefined;

  /** Asks, and takes a refusal for an answer. */
  async ask(method: string, path: string, body?: object): Promise<TestResponse> {
    const { tenant } = this;
    const answer = await server.request(method, `/billing/billing/${path}`, {
      tenant,
      ...(body && { body }),
    });
    expect(answer.status, `${method} ${path}: ${answer.text}`).toBeLessThan(500);
    return answer;
  }

  async #newest<T>(path: string): Promise<T | undefined> {
    const { body } = await this.ask('GET', path);
    return (Array.isArray(body) ? body : body.data)?.[0] as T | undefined;
  }

  async begin(): Promise<void> {
    await this.act({ hours: 0, action: 'register', choice: 0, quantity: 1 });
    await this.act({ hours: 0, action: 'attach', choice: 0, quantity: 1 });
  }

  async act(step: Step): Promise<void> {
    clock.turn(step.hours * 3_600_000);
    await sweep();
    await this.#live();
    const before = this.#current;
    const { status } = await this.#send(step);
    if (status >= 400) return;
    await this.#note(step, before?.planId);
  }

  /** Writes down the time until now under the plan that the tenant has had since. */
  async #live(): Promise<void> {
    const now = clock.now();
    const had = this.#current;
    if (had === undefined) return;
    const { ended_at } = (await this.ask('GET', `subscriptions/${had.id}`)).body as Subscription;
    const end = ended_at === null ? now : Date.parse(ended_at);
    if (end > had.since) this.lived.push({ start: had.since, end, ...this.#terms(had) });
    this.#current = ended_at === null ? { ...had, since: now } : undefined;
  }

  #terms = ({ id, planId }: { id: string; planId: string }) => ({
    offer: offers[plans.findIndex((plan) => plan.id === planId)]!,
    isOfTrial: id === this.#trialId,
  });

  async #note({ action, choice, quantity }: Step, planBefore: string | undefined): Promise<void> {
    if (action === 'redeem') this.given.add(gifts[choice % gifts.length]!);
    const had = this.#current;
    if ((action === 'use' || action === 'useMany') && had !== undefined && planBefore !== undefined)
      this.used.push({
        at: clock.now(),
        quantity: action === 'use' ? quantity : 2 * quantity,
        ...this.#terms(had),
      });
    if (action === 'subscribe') {
      const made = await this.#newest<Subscription>('subscriptions?limit=1');
      if (made!.status === 'trialing' && this.trialStart === undefined)
        [this.trialStart, this.#trialId] = [Date.parse(made!.trial_start!), made!.id];
      this.#current = { id: made!.id, planId: made!.plan_id, since: Date.parse(made!.starts_at) };
    }
    if (action === 'change' && had !== undefined)
      this.#current = { ...had, planId: plans[choice % plans.length]!.id };
    if (action === 'cancel') await this.#live();
  }

  async #send({ action, choice, quantity }: Step): Promise<TestResponse> {
    const subscription =
      this.#current?.id ?? (await this.#newest<Subscription>('subscriptions?limit=1'))?.id ?? absent.sub;
    const customer = (await this.#newest<Customer>('customers?limit=1'))?.id ?? absent.cus;
    const method =
      (await this.#newest<PaymentMethod>(`payment-methods?customer_id=${customer}`))?.id ?? absent.pm;
    const invoice = async () => (await this.#newest<Invoice>('invoices?limit=1'))?.id ?? absent.inv;
    const payment = async () => (await this.#newest<Payment>('payments?limit=1'))?.id ?? absent.pay;
    const event = { feature_key: 'api_calls', quantity };
    const plan_id = plans[choice % plans.length]!.id;
    const requests: Record<Action, () => Promise<TestResponse>> = {
      subscribe: () => this.ask('POST', 'subscriptions', { tenant_id: this.tenant, plan_id }),
      change: () => this.ask('POST', `subscriptions/${subscription}/change-plan`, { plan_id }),
      cancel: () =>
        this.ask('POST', `subscriptions/${subscription}/cancel`, { immediately: choice % 2 === 0 }),
      uncancel: () => this.ask('POST', `subscriptions/${subscription}/uncancel`),
      use: () => this.ask('POST', 'meter/events', event),
      useMany: () => this.ask('POST', 'meter/events/batch', { events: [event, event] }),
      redeem: () =>
        this.ask('POST', `coupons/${coupons[choice % coupons.length]!.code}/redeem`, {
          subscription_id: subscription,
        }),
      draft: () => this.ask('POST', 'invoices', { subscription_id: subscription }),
      pay: async () =>
        this.ask('POST', 'payments', { invoice_id: await invoice(), payment_method_id: method }),
      cancelPayment: async () => this.ask('POST', `payments/${await payment()}/cancel`),
      attach: () => this.ask('POST', 'payment-methods', { customer_id: customer, token: 'tok_visa' }),
      setDefault: () => this.ask('POST', `payment-methods/${method}/default`),
      detach: () => this.ask('DELETE', `payment-methods/${method}`),
      register: () =>
        this.ask('POST', 'customers', { name: 'Acme GmbH', email: `${choice}@${this.tenant}.example` }),
      move: () =>
        this.ask('PUT', `customers/${customer}`, {
          billing_address: choice % 2 === 0 ? null : { country: 'DE' },
        }),
      erase: () => this.ask('DELETE', `customers/${customer}`),
    };
    return await requests[action]();
  }

  /** Ends what the tenant has, and waits until everything that it owes is billed. */
  async finish(): Promise<void> {
    await this.act({ hours: 1, action: 'cancel', choice: 0, quantity: 1 });
    for (const days of [1, 1, 40, 1, 1]) {
      clock.turn(days * dayMs);
      await sweep();
    }
  }

  /** What final invoices bill in all. */
  async billed(): Promise<number> {
    const { body } = await this.ask('GET', 'invoices?limit=100');
    return (body.data as Invoice[])
      .filter(({ status }) => status !== 'draft' && status !== 'voided')
      .reduce((total, invoice) => total + invoice.total.amount, 0);
  }
}

const absent = {
  sub: 'sub_01h455vb4pex5vsknk084sn0zz',
  cus: 'cus_01h455vb4pex5vsknk084sn0zz',
  pm: 'pm_01h455vb4pex5vsknk084sn0zz',
  inv: 'inv_01h455vb4pex5vsknk084sn0zz',
  pay: 'pay_01h455vb4pex5vsknk084sn0zz',
};

/** Each invoice may round once for each of its amounts. */
const roundings = 30;

it(
  'whatever a tenant does with its own key, it is never billed less than for the same use by one subscription without interruptions',
  { timeout: 300_000 },
  async () => {
    await fc.assert(
      fc.asyncProperty(sequences, async (steps) => {
        clock.turn(firstDay);
        const actor = new Actor();
        await actor.begin();
        for (const step of steps) {
          if (clock.now() + step.hours * 3_600_000 > Date.parse(firstDay) + lastsMs) break;
          await actor.act(step);
        }
        await actor.finish();
        const least = leastBill({
          ...{ lived: actor.lived, used: actor.used, trialStart: actor.trialStart, gifts: actor.given },
        });
        expect(await actor.billed()).toBeGreaterThanOrEqual(Math.floor(least) - roundings);
      }),
      { numRuns: Number(process.env['SEQUENCES'] ?? 12), endOnFailure: true },
    );
  },
);
