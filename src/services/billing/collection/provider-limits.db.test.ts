/** What becomes of amounts that the card provider does not take. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestServer } from '../../../testing/server.ts';
import { type Debtor, debtor, payingTools, signing } from '../payments/testing.ts';
import { createCardProvider } from '../providers/card-provider.ts';
import { type FakeCardProvider, fakeCardProvider } from '../providers/testing/fake-card-provider.ts';
import { pro, serverBy, TestClock, usd } from '../testing.ts';
import { sweeping } from '../testing/sweeping.ts';

const clock = new TestClock('2026-01-15T10:00:00Z');
let fake: FakeCardProvider;
let server: TestServer;
let api: ReturnType<typeof payingTools>;
let sweep: () => Promise<void>;
beforeAll(async () => {
  fake = await fakeCardProvider();
  const env = {
    ...{ ...signing, PLINTH_BILLING_PROVIDER: 'card-provider' },
    ...{ PLINTH_BILLING_CARD_PROVIDER_KEY: 'sk_test_none', PLINTH_BILLING_CARD_PROVIDER_URL: fake.url },
  };
  server = await serverBy(clock, { env });
  api = payingTools(server, server.db);
  const provider = await createCardProvider({ key: 'sk_test_none', url: fake.url });
  sweep = sweeping(server, clock, { provider });
});
afterAll(async () => {
  await server.close();
  await fake.close();
});

const hour = 3_600_000;
const kwd = (amount: number) => ({ amount, currency: 'kwd' });
const balance = async ({ customer }: Pick<Debtor, 'customer'>): Promise<number> =>
  (await api.send('GET', `/billing/customers/${customer}`)).balance.amount;
/** What the provider was asked for, in its own units. */
const charged = (currency: string) =>
  [...fake.intents.values()].filter((one) => one.currency === currency).map(({ amount }) => amount);

/** A debtor with a card, whose invoice is about to be collected. */
async function due(amount: number, currency: string): Promise<Debtor> {
  const owner = await debtor(server.db, { at: clock.now(), amount, currency });
  await api.method(owner);
  await server.db.sql`
    update billing.invoice set next_attempt_at = ${new Date(clock.now())} where id = ${owner.invoice}`;
  return owner;
}

describe('a price', () => {
  const plan = (pricing: object) => ({ body: { ...pro, currency: 'kwd', slug: 'dinars', pricing } });

  it('that can never be charged is refused where it is made, and names its member', async () => {
    const refused = (pricing: object) => api.refusal('POST', '/billing/plans', plan(pricing));
    const why = 'must be a multiple of 10, because the payment provider takes no smaller unit';
    expect(await refused({ base_amount: kwd(1_234) })).toEqual([
      ...[400, 'invalid_pricing', `pricing.base_amount.amount: ${why}`],
    ]);
    const tier = { feature_key: 'seats', type: 'flat', up_to: -1, flat_amount: kwd(5) };
    expect(await refused({ base_amount: kwd(1_230), tiers: [tier] })).toEqual([
      ...[400, 'invalid_pricing', `pricing.tiers.0.flat_amount.amount: ${why}`],
    ]);
    const { id } = await api.plan(plan({ base_amount: kwd(1_230) }).body);
    const changed = { body: { pricing: { base_amount: kwd(1_231) } } };
    expect((await api.refusal('PUT', `/billing/plans/${id}`, changed))[0]).toBe(400);
  });

  it('of a single use may be as small as one likes', async () => {
    const tier = { feature_key: 'api_calls', up_to: -1, unit_amount_decimal: '0.001' };
    await api.plan({ ...plan({ base_amount: kwd(0), tiers: [tier] }).body, slug: 'mils' });
  });
});

describe('an invoice', () => {
  it('of less than the provider takes is settled, and the next one collects it', async () => {
    const { id: customer } = await api.customer('small');
    await api.send('POST', '/billing/payment-methods', {
      body: { customer_id: customer, token: 'tok_visa' },
    });
    const pricing = { base_amount: usd(30), tiers: [] };
    const subscription = await api.subscribe('small', await api.plan({ pricing, features: [] }));
    const invoices = async () =>
      (await api.invoices(subscription)).map(({ status, carried_amount, amount_due }) => [
        ...[status, carried_amount.amount, amount_due.amount],
      ]);
    const renew = async (to: string) => {
      clock.turn(to);
      await sweep();
      clock.turn(2 * hour);
      await sweep();
      await sweep();
    };
    await renew('2026-02-15T10:00:00Z');
    expect(await invoices()).toEqual([['paid', -30, 0]]);
    expect([await balance({ customer }), charged('usd')]).toEqual([30, []]);
    await renew('2026-03-15T10:00:00Z');
    expect(await invoices()).toEqual([
      ['paid', -30, 0],
      ['paid', 30, 60],
    ]);
    expect([await balance({ customer }), charged('usd')]).toEqual([0, [60]]);
    const entries = await server.db.sql<{ amount: number }[]>`
      select amount from billing.balance_entry where customer_id = ${customer} order by id`;
    expect(entries.map(({ amount }) => amount)).toEqual([30, -30]);
  });

  it('that somebody asks for is settled, too, and gives back what it left when it is voided', async () => {
    const { id: customer } = await api.customer('voided');
    const pricing = { base_amount: usd(30), tiers: [] };
    const subscription = await api.subscribe('voided', await api.plan({ pricing, features: [] }));
    const final = await api.finalize(await api.draft(subscription));
    expect(final).toMatchObject({ carried_amount: { amount: -30 }, amount_due: { amount: 0 } });
    expect(await balance({ customer })).toBe(30);
    await api.send('POST', `/billing/invoices/${final.id}/void`);
    expect(await balance({ customer })).toBe(0);
  });

  it('in a unit that the provider does not take leaves the rest to the next', async () => {
    const owner = await due(1_234, 'kwd');
    await sweep();
    await sweep();
    expect(await api.account(owner)).toMatchObject({ status: 'paid', paid: 1_230 });
    expect([await balance(owner), charged('kwd')]).toEqual([4, [1_230]]);
  });

  it('of an amount that only the provider knows to be too small is settled after it said so', async () => {
    const owner = await due(1_000, 'pkr');
    await sweep();
    await sweep();
    expect(await api.account(owner)).toMatchObject({ status: 'paid', paid: 0 });
    expect([await balance(owner), charged('pkr')]).toEqual([1_000, []]);
  });

  it('of which a credit leaves less than the provider takes is settled, although nobody collects it', async () => {
    const { id: customer } = await api.customer('set-off');
    const pricing = { base_amount: usd(1_000), tiers: [] };
    const subscription = await api.subscribe('set-off', await api.plan({ pricing, features: [] }));
    const { id } = await api.finalize(await api.draft(subscription));
    clock.turn(12 * hour);
    await api.send('POST', `/billing/subscriptions/${subscription.id}/cancel`, {
      body: { immediately: true },
    });
    clock.turn(2 * hour);
    for (const _ of [1, 2]) await sweep();
    const { status, carried_amount, amount_due } = await api.invoice(id);
    expect([status, carried_amount.amount, amount_due.amount]).toEqual(['paid', -16, 0]);
    expect([await balance({ customer }), charged('usd').includes(16)]).toEqual([16, false]);
  });

  it('of which a smaller payment than was asked for leaves less than the provider takes is settled', async () => {
    const owner = await debtor(server.db, { at: clock.now() });
    const { processor_id } = await api.pay(owner);
    const object = { id: processor_id, amount_received: 4_980, currency: 'usd' };
    await api.notify('payment_intent.succeeded', object, { now: clock.now() });
    await sweep();
    expect(await api.account(owner)).toMatchObject({ status: 'paid', paid: 4_980 });
    expect(await balance(owner)).toBe(20);
  });

  it('that has left something keeps its customer from being erased, until credit covers that', async () => {
    const owner = await due(1_000, 'pkr');
    await sweep();
    await sweep();
    const path = `/billing/customers/${owner.customer}`;
    const { status, body } = await server.request('DELETE', `/billing${path}`, { tenant: owner.tenant });
    expect([status, body.error]).toMatchObject([
      409,
      {
        ...{ code: 'customer_in_use', message: 'customer has an amount that its next invoice collects' },
        details: { balance: { amount: 1_000, currency: 'pkr' } },
      },
    ]);
    const amount = { amount: 1_000, currency: 'pkr' };
    await api.send('POST', `${path}/credit`, { body: { amount } });
    await api.send('DELETE', path, { tenant: owner.tenant });
  });

  it('of more than the provider takes at once is collected in parts', async () => {
    const owner = await due(150_000_000, 'eur');
    await sweep();
    clock.turn(2 * hour);
    await sweep();
    expect(await api.account(owner)).toEqual({ status: 'paid', paid: 150_000_000, balance: 0 });
    expect(charged('eur')).toEqual([99_999_999, 50_000_001]);
  });
});

describe('a payment', () => {
  it.each([
    [49, 'must be at least $0.50, as the payment provider takes it'],
    [4_960, 'must leave nothing, or at least $0.50, as the payment provider takes it'],
  ])('of %s of 5,000 cents %s', async (amount, why) => {
    const owner = await debtor(server.db, { at: clock.now() });
    const { id } = await api.method(owner);
    const body = { invoice_id: owner.invoice, payment_method_id: id, amount: usd(amount) };
    expect(await api.refusal('POST', '/billing/payments', { tenant: owner.tenant, body })).toEqual([
      ...[400, 'invalid_amount', `amount: ${why}`],
    ]);
    expect(await api.pay(owner, { payment_method_id: id })).toMatchObject({ amount: usd(5_000) });
  });

  it.each([
    ['with a card', 'tok_visa'],
    ['without one', undefined],
  ])(
    'that only the provider knows to be too small is refused in the same words when it is repeated %s',
    async (_, token) => {
      const owner = await debtor(server.db, { at: clock.now(), amount: 1_000, currency: 'pkr' });
      const method = token === undefined ? {} : { payment_method_id: (await api.method(owner, token)).id };
      const body = { invoice_id: owner.invoice, ...method, idempotency_key: 'small' };
      for (const _again of [1, 2])
        expect(await api.refusal('POST', '/billing/payments', { tenant: owner.tenant, body })).toEqual([
          ...[400, 'invalid_amount', 'amount: less than the payment provider takes'],
        ]);
    },
  );

  it('is asked for, heard of and refunded in the units of the provider', async () => {
    const owner = await debtor(server.db, { at: clock.now(), amount: 4_900, currency: 'isk' });
    const { id, processor_id } = await api.pay(owner);
    expect(charged('isk')).toEqual([490_000]);
    const now = clock.now();
    const object = { id: processor_id, amount_received: 490_000, currency: 'isk' };
    await api.notify('payment_intent.succeeded', object, { now });
    expect(await api.account(owner)).toEqual({ status: 'paid', paid: 4_900, balance: 0 });
    fake.intents.get(processor_id)!.status = 'succeeded';
    const part = { body: { amount: { amount: 900, currency: 'isk' } } };
    expect(await api.send('POST', `/billing/payments/${id}/refund`, part)).toMatchObject({
      refunded_amount: { amount: 900, display: 'ISK 900' },
    });
    expect(fake.intents.get(processor_id)!.refunded).toBe(90_000);
  });

  it('is not refunded by an amount that the provider does not take', async () => {
    const owner = await debtor(server.db, { at: clock.now(), amount: 5_000, currency: 'kwd' });
    const { id, processor_id } = await api.pay(owner);
    const object = { id: processor_id, amount_received: 5_000, currency: 'kwd' };
    await api.notify('payment_intent.succeeded', object, { now: clock.now() });
    const refusal = await api.refusal('POST', `/billing/payments/${id}/refund`, {
      body: { amount: kwd(1_234) },
    });
    expect(refusal).toEqual([
      ...[400, 'invalid_amount'],
      'amount: must be a multiple of 10, because the payment provider takes no smaller unit',
    ]);
  });
});
