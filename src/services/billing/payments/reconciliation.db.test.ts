import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TestServer } from '../../../testing/server.ts';
import { until } from '../../../testing/until.ts';
import { createCardProvider } from '../providers/card-provider.ts';
import { type FakeCardProvider, fakeCardProvider } from '../providers/testing/fake-card-provider.ts';
import { serverBy, TestClock } from '../testing.ts';
import type { PaymentDeps } from './deps.ts';
import { reconcile } from './reconciliation.ts';
import { type Debtor, debtor, payingTools, processOn, signing } from './testing.ts';

const clock = new TestClock('2026-02-15T11:00:00Z');
const minute = 60_000;
let fake: FakeCardProvider;
let server: TestServer;
let api: ReturnType<typeof payingTools>;
let other: PaymentDeps;
beforeAll(async () => {
  fake = await fakeCardProvider();
  const env = {
    ...{ ...signing, PLINTH_BILLING_PROVIDER: 'card-provider' },
    ...{ PLINTH_BILLING_CARD_PROVIDER_KEY: 'sk_test_none', PLINTH_BILLING_CARD_PROVIDER_URL: fake.url },
  };
  server = await serverBy(clock, { env });
  api = payingTools(server, server.db);
  other = processOn(server.db, clock, await createCardProvider({ key: 'sk_test_none', url: fake.url }));
});
afterAll(async () => {
  await server.close();
  await fake.close();
});
beforeEach(() => {
  fake.behaviour = 'answers';
});

const owing = () => debtor(server.db, { at: clock.now() });
const reconcileAfter = async (ms: number) => {
  clock.turn(ms);
  return await reconcile(other, clock.now());
};
const attached = async (token = 'tok_visa') => {
  const owner = await owing();
  return { owner, method: (await api.method(owner, token)).id as string };
};
const charges = ({ invoice }: Debtor) =>
  server.db.sql<{ id: string; status: string }[]>`
    select id, status from billing.payment where invoice_id = ${invoice}`;
const intentsOf = (id: string) =>
  [...fake.intents.values()].filter(({ metadata }) => metadata['payment_id'] === id);
const status = async ({ tenant }: Debtor, id: string): Promise<string> =>
  (await api.send('GET', `/billing/payments/${id}`, { tenant })).status;

/** Pays while the provider behaves badly, which ends in a 504 that names the payment. */
async function inDoubt(
  owner: Debtor,
  method: string,
  behaviour: FakeCardProvider['behaviour'],
): Promise<string> {
  fake.behaviour = behaviour;
  const { status, body } = await server.request('POST', '/billing/billing/payments', {
    ...{ tenant: owner.tenant, body: { invoice_id: owner.invoice, payment_method_id: method } },
  });
  expect([status, body.error.code, body.error.type]).toEqual([504, 'provider_timeout', 'provider']);
  fake.behaviour = 'answers';
  return body.error.details.payment_id;
}

describe('with the card provider', () => {
  it('a payment is charged once, and its success is applied after the response', async () => {
    const { owner, method } = await attached();
    const payment = await api.pay(owner, { payment_method_id: method });
    expect(payment).toMatchObject({ status: 'pending', processor_name: 'card-provider' });
    await until(async () => (await status(owner, payment.id)) === 'succeeded');
    expect(await api.account(owner)).toMatchObject({ status: 'paid', paid: 5_000 });
    expect(intentsOf(payment.id)).toHaveLength(1);
  });

  it('a payment that is declined fails with 402, and one that is not understood with 500', async () => {
    const { owner, method } = await attached('pm_declined');
    const refused = (more: object) => {
      const body = { invoice_id: owner.invoice, payment_method_id: method, ...more };
      return api.refusal('POST', '/billing/payments', { tenant: owner.tenant, body });
    };
    expect(await refused({})).toEqual([402, 'payment_failed', 'Your card was declined.']);
    await server.db.sql`update billing.invoice set amount_due = 999999999 where id = ${owner.invoice}`;
    expect(await refused({})).toEqual([500, 'provider_error', 'the payment provider failed']);
    expect((await charges(owner)).map(({ status }) => status)).toEqual(['failed', 'failed']);
  });

  it('two payments of one invoice at once are one charge', async () => {
    const { owner, method } = await attached();
    const body = { invoice_id: owner.invoice, payment_method_id: method };
    const pay = () => server.request('POST', '/billing/billing/payments', { tenant: owner.tenant, body });
    const answers = await Promise.all([pay(), pay()]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400]);
    expect((await charges(owner)).flatMap(({ id }) => intentsOf(id))).toHaveLength(1);
  });

  it('a refund that the provider has told of already counts once', async () => {
    const { owner, method } = await attached();
    const { id, processor_id } = await api.pay(owner, { payment_method_id: method });
    await until(async () => (await status(owner, id)) === 'succeeded');
    const told = { payment_intent: processor_id, amount_refunded: 5_000, currency: 'usd' };
    fake.behaviour = 'waitsAfter';
    const before = fake.requests.length;
    const answer = server.request('POST', `/billing/billing/payments/${id}/refund`);
    await until(() => fake.requests.length > before);
    await api.notify('charge.refunded', told, { now: clock.now() });
    fake.hangUp();
    expect((await answer).body.error).toMatchObject({
      code: 'provider_timeout',
      details: { payment_id: id },
    });
    fake.behaviour = 'answers';
    await reconcileAfter(2 * minute);
    expect(await api.payment(owner, id)).toMatchObject({
      status: 'refunded',
      refunded_amount: { amount: 5_000 },
    });
    const [{ refunding }] = await server.db.sql<[{ refunding: number }]>`
      select refunding_amount as refunding from billing.payment where id = ${id}`;
    expect([refunding, fake.intents.get(processor_id)?.refunded]).toEqual([0, 5_000]);
  });
});

describe('a payment in doubt', () => {
  it.each(['hangsUpAfter', 'hangsUpBefore', 'garblesAfter'] as const)(
    'when the provider %s is charged once, by the reconciliation',
    async (behaviour) => {
      const { owner, method } = await attached();
      const id = await inDoubt(owner, method, behaviour);
      expect(await status(owner, id)).toBe('pending');
      await reconcileAfter(minute - 1);
      expect(await status(owner, id)).toBe('pending');
      await Promise.all([reconcileAfter(1), reconcile(other, clock.now())]);
      expect(await status(owner, id)).toBe('succeeded');
      expect(intentsOf(id)).toHaveLength(1);
      expect(await api.account(owner)).toMatchObject({ status: 'paid', paid: 5_000, balance: 0 });
      expect(await reconcileAfter(60 * minute)).toBe(0);
    },
  );

  it('is settled by the notification if that comes first', async () => {
    const { owner, method } = await attached();
    const id = await inDoubt(owner, method, 'hangsUpAfter');
    const [intent] = intentsOf(id);
    expect(await api.notify('payment_intent.succeeded', intent!, { now: clock.now() })).toBe(true);
    expect(await api.payment(owner, id)).toMatchObject({ status: 'succeeded', processor_id: intent!.id });
    expect(await reconcileAfter(2 * minute)).toBe(0);
  });

  it.each(['fails', 'refuses', 'garblesAfter'] as const)(
    'has not failed because the provider %s meanwhile',
    async (behaviour) => {
      const { owner, method } = await attached();
      const id = await inDoubt(owner, method, 'hangsUpAfter');
      fake.behaviour = behaviour;
      await reconcileAfter(minute);
      expect(await status(owner, id)).toBe('pending');
      fake.behaviour = 'answers';
      await reconcileAfter(10 * minute);
      expect([await status(owner, id), intentsOf(id).length]).toEqual(['succeeded', 1]);
    },
  );

  it('that is in doubt for a day is given up', async () => {
    const { owner, method } = await attached();
    const id = await inDoubt(owner, method, 'hangsUpBefore');
    fake.behaviour = 'fails';
    for (let hours = 0; hours < 23; hours++) await reconcileAfter(60 * minute);
    expect(await status(owner, id)).toBe('pending');
    fake.behaviour = 'answers';
    await reconcileAfter(60 * minute);
    expect([await status(owner, id), intentsOf(id).length]).toEqual(['canceled', 0]);
  });
});

describe('an open payment', () => {
  it('that was finished without a notification is found after ten minutes', async () => {
    const owner = await owing();
    const { id, processor_id } = await api.pay(owner);
    fake.intents.get(processor_id)!.status = 'succeeded';
    await reconcileAfter(9 * minute);
    expect(await status(owner, id)).toBe('pending');
    await reconcileAfter(minute);
    expect(await status(owner, id)).toBe('succeeded');
  });

  it('is canceled after a day, at the provider too', async () => {
    const owner = await owing();
    const { id, processor_id } = await api.pay(owner);
    await reconcileAfter(23 * 60 * minute);
    expect(await status(owner, id)).toBe('pending');
    await reconcileAfter(60 * minute);
    expect([await status(owner, id), fake.intents.get(processor_id)?.status]).toEqual([
      'canceled',
      'canceled',
    ]);
  });

  it('that is canceled is canceled at the provider, if need be later', async () => {
    const owner = await owing();
    const { id, processor_id } = await api.pay(owner);
    fake.behaviour = 'fails';
    const before = fake.requests.length;
    await api.send('POST', `/billing/payments/${id}/cancel`, { tenant: owner.tenant });
    await until(() => fake.requests.length > before);
    expect(fake.intents.get(processor_id)?.status).toBe('requires_payment_method');
    await until(async () => {
      const [{ waits }] = await server.db.sql<[{ waits: boolean }]>`
        select check_at > ${new Date(clock.now())} as waits from billing.payment where id = ${id}`;
      return waits;
    });
    fake.behaviour = 'answers';
    await reconcileAfter(20 * minute);
    expect(fake.intents.get(processor_id)?.status).toBe('canceled');
    expect(await status(owner, id)).toBe('canceled');
  });

  it('that was finished before it is canceled is paid all the same', async () => {
    const owner = await owing();
    const { id, processor_id } = await api.pay(owner);
    fake.intents.get(processor_id)!.status = 'succeeded';
    await api.send('POST', `/billing/payments/${id}/cancel`, { tenant: owner.tenant });
    await until(async () => (await status(owner, id)) === 'succeeded');
    expect(await api.account(owner)).toMatchObject({ status: 'paid', paid: 5_000 });
  });
});
