/** Requests that move money, sent again with their `Idempotency-Key`, however the first one ended. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TestResponse, TestServer } from '../../../testing/server.ts';
import { until } from '../../../testing/until.ts';
import { createCardProvider } from '../providers/card-provider.ts';
import { type FakeCardProvider, fakeCardProvider } from '../providers/testing/fake-card-provider.ts';
import { serverBy, TestClock } from '../testing.ts';
import type { PaymentDeps } from './deps.ts';
import { reconcile } from './reconciliation.ts';
import { type Debtor, debtor, payingTools, processOn, signing } from './testing.ts';

const clock = new TestClock('2026-02-15T11:00:00Z');
const day = 86_400_000;
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

const usd = (amount: number) => ({ amount: { amount, currency: 'usd' } });
const keyed = (key: string) => ({ headers: { 'Idempotency-Key': key } });
const outcome = ({ status, body }: TestResponse) => [
  status,
  body.error?.code ?? body.refunded_amount?.amount,
];

/** A tenant that has paid 50 dollars with a card. */
async function paid(): Promise<{ owner: Debtor; id: string; processorId: string }> {
  const owner = await debtor(server.db, { at: clock.now() });
  const { id: payment_method_id } = await api.method(owner);
  const { id, processor_id: processorId } = await api.pay(owner, { payment_method_id });
  await until(async () => (await api.payment(owner, id)).status === 'succeeded');
  return { owner, id, processorId };
}
const refund = (id: string, key: string, body: object = usd(1_000)) =>
  server.request('POST', `/billing/billing/payments/${id}/refund`, { body, ...keyed(`${key}-${id}`) });
const refundsAt = (processorId: string) => fake.intents.get(processorId)!.refunds.map(({ amount }) => amount);

describe('a refund', () => {
  it('is paid out once for a key, and once more for another', async () => {
    const { owner, id, processorId } = await paid();
    for (const _ of [1, 2]) expect(outcome(await refund(id, 'one'))).toEqual([200, 1_000]);
    expect((await refund(id, 'one', usd(2_000))).status).toBe(409);
    expect(outcome(await refund(id, 'two'))).toEqual([200, 2_000]);
    expect(refundsAt(processorId)).toEqual([1_000, 1_000]);
    expect(await api.payment(owner, id)).toMatchObject({ refunded_amount: { amount: 2_000 } });
  });

  it.each(['hangsUpAfter', 'hangsUpBefore'] as const)(
    'whose answer never came is found or made by the next request with its key: the provider %s',
    async (behaviour) => {
      const { owner, id, processorId } = await paid();
      fake.behaviour = behaviour;
      expect(outcome(await refund(id, 'late'))).toEqual([504, 'provider_timeout']);
      expect(outcome(await refund(id, 'late'))).toEqual([504, 'provider_timeout']);
      fake.behaviour = 'answers';
      for (const _ of [1, 2]) expect(outcome(await refund(id, 'late'))).toEqual([200, 1_000]);
      expect(refundsAt(processorId)).toEqual([1_000]);
      expect(await api.payment(owner, id)).toMatchObject({ refunded_amount: { amount: 1_000 } });
    },
  );

  it('whose answer never came, with another body, is a contradiction', async () => {
    const { id } = await paid();
    fake.behaviour = 'hangsUpAfter';
    expect((await refund(id, 'differs')).status).toBe(504);
    fake.behaviour = 'answers';
    expect(outcome(await refund(id, 'differs', usd(900)))).toEqual([409, 'duplicate_idempotency_key']);
  });

  it('that was made is found when the provider has forgotten its key', async () => {
    const { owner, id, processorId } = await paid();
    fake.behaviour = 'hangsUpAfter';
    expect((await refund(id, 'old')).status).toBe(504);
    fake.behaviour = 'answers';
    clock.turn(2 * day);
    await reconcile(other, clock.now());
    expect(await api.payment(owner, id)).toMatchObject({ refunded_amount: { amount: 1_000 } });
    expect(outcome(await refund(id, 'old'))).toEqual([200, 1_000]);
    expect(refundsAt(processorId)).toEqual([1_000]);
  });

  it('that was never made is given up after a day, and its key stays refused', async () => {
    const { owner, id, processorId } = await paid();
    fake.behaviour = 'hangsUpBefore';
    expect((await refund(id, 'never')).status).toBe(504);
    fake.behaviour = 'answers';
    clock.turn(2 * day);
    await reconcile(other, clock.now());
    expect(outcome(await refund(id, 'never'))).toEqual([500, 'provider_error']);
    expect(refundsAt(processorId)).toEqual([]);
    expect(outcome(await refund(id, 'again', usd(5_000)))).toEqual([200, 5_000]);
    expect(await api.account(owner)).toMatchObject({ balance: 0 });
  });

  it('by many requests with one key at once is paid out once', async () => {
    const { id, processorId } = await paid();
    const answers = await Promise.all(Array.from({ length: 8 }, () => refund(id, 'many')));
    expect(answers.map(({ status }) => status).filter((status) => status !== 409)).toContain(200);
    expect(refundsAt(processorId)).toEqual([1_000]);
  });
});

describe('a payment that was declined', () => {
  it.each([
    ['in the body', (key: string) => ({ body: { idempotency_key: key } })],
    ['in the header', (key: string) => ({ body: {}, ...keyed(key) })],
  ])('is declined again for its key %s', async (_, withKey) => {
    const owner = await debtor(server.db, { at: clock.now() });
    const { id: payment_method_id } = await api.method(owner, 'pm_declined');
    const pay = () => {
      const { body, ...options } = withKey('declined');
      const asked = { invoice_id: owner.invoice, payment_method_id, ...body };
      return server.request('POST', '/billing/billing/payments', {
        ...{ tenant: owner.tenant, body: asked, ...options },
      });
    };
    const [first, second] = [await pay(), await pay()];
    expect(first.status).toBe(402);
    expect([second.status, second.body]).toEqual([402, first.body]);
    expect((await api.send('GET', `/billing/payments?invoice_id=${owner.invoice}`)).data).toHaveLength(1);
  });
});

describe('credit', () => {
  it('is given once for the key of its request', async () => {
    const owner = await debtor(server.db, { at: clock.now() });
    const credit = (amount: number) =>
      server.request('POST', `/billing/billing/customers/${owner.customer}/credit`, {
        ...{ body: usd(amount), ...keyed('goodwill') },
      });
    const [first, second] = [await credit(700), await credit(700)];
    expect([second.status, second.body]).toEqual([first.status, first.body]);
    // As if the process had ended before it could remember its answer.
    await server.db.sql`delete from plinth.idempotency_keys where key = 'goodwill'`;
    expect((await credit(700)).status).toBe(first.status);
    expect((await credit(800)).status).toBe(409);
    expect(await api.account(owner)).toMatchObject({ balance: -700 });
  });
});
