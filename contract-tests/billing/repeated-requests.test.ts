/** Every operation of billing that moves money or counts, and takes an `Idempotency-Key` without creating a resource. */
import { expect, it } from 'vitest';
import { type Api, behaviour, type Credential } from '../harness.ts';
import { newCoupon, newCustomer, newPlan } from './offers.ts';
import { missing, paid, payer } from './payers.ts';
import { nobody, subscriber, used } from './subscribers.ts';

/** A request that succeeds, and one that is another because it names something else. */
interface Pair {
  readonly caller: Credential;
  readonly path: string;
  readonly other: string;
  readonly body?: object;
}

const amount = { amount: 500, currency: 'usd' };
const ofInvoice = async (api: Api, verb: string): Promise<Pair> => {
  const { invoice } = await payer(api);
  const [path, other] = [invoice.id, missing.invoice].map((id) => `invoices/${id}/${verb}`) as [
    string,
    string,
  ];
  return { caller: api.operator(), path, other };
};
const ofSubscription = async (api: Api, verb: string, body?: object): Promise<Pair> => {
  const { tenant, subscription } = await subscriber(api);
  const path = `subscriptions/${subscription.id}/${verb}`;
  return {
    caller: tenant,
    path,
    other: `subscriptions/${nobody.subscription}/${verb}`,
    ...(body && { body }),
  };
};

const pairs: Readonly<Record<string, (api: Api) => Promise<Pair>>> = {
  'Invoices finalize': (api) => ofInvoice(api, 'finalize'),
  'Invoices void': (api) => ofInvoice(api, 'void'),
  'Invoices pay': (api) => ofInvoice(api, 'pay'),
  'Subscriptions cancel': (api) => ofSubscription(api, 'cancel', { immediately: true }),
  'Subscriptions changePlan': async (api) =>
    ofSubscription(api, 'change-plan', { plan_id: (await newPlan(api)).id }),
  async 'Coupons redeem'(api) {
    const { tenant, subscription } = await subscriber(api);
    const [{ id }, { id: another }] = [await newCoupon(api), await newCoupon(api)];
    const body = { subscription_id: subscription.id };
    return { caller: tenant, path: `coupons/${id}/redeem`, other: `coupons/${another}/redeem`, body };
  },
  async 'Customers credit'(api) {
    const { id } = await newCustomer(api.tenant());
    const path = `customers/${id}/credit`;
    return { caller: api.operator(), path, other: `customers/${missing.customer}/credit`, body: { amount } };
  },
  async 'Meter void'(api) {
    const id = await used(api.tenant());
    const path = `meter/events/${id}/void`;
    return { caller: api.operator(), path, other: `meter/events/${nobody.event}/void` };
  },
  async 'Payments refund'(api) {
    const { id } = await paid(api, await payer(api));
    const path = `payments/${id}/refund`;
    return { caller: api.operator(), path, other: `payments/${missing.payment}/refund`, body: { amount } };
  },
};

behaviour('A repeated request', (api) => {
  it.each(Object.entries(pairs))(
    '%s gets its first answer, and 409 for another request',
    async (_, pairOf) => {
      const { caller, path, other, body } = await pairOf(api);
      const send = (to: string) =>
        caller.fetch(`/billing/billing/${to}`, {
          method: 'POST',
          headers: { 'Idempotency-Key': path, ...(body && { 'Content-Type': 'application/json' }) },
          ...(body && { body: JSON.stringify(body) }),
        });
      const first = await send(path);
      const said = await first.text();
      expect(first.ok, said).toBe(true);
      const second = await send(path);
      expect([second.status, await second.text()]).toEqual([first.status, said]);
      const contradiction = await send(other);
      expect(contradiction.status).toBe(409);
      expect(await contradiction.json()).toMatchObject({ error: { code: 'duplicate_idempotency_key' } });
    },
  );
});
