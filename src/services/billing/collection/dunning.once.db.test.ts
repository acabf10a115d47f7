import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Invoice, Subscription } from '../../../../generated/billing/types.ts';
import type { TestServer } from '../../../testing/server.ts';
import type { ChargeResult } from '../providers/provider.ts';
import { testProvider } from '../providers/test-provider.ts';
import { serverBy, TestClock, tools } from '../testing.ts';
import { sweeping } from '../testing/sweeping.ts';

const hour = 3_600_000;
let server: TestServer;
let api: ReturnType<typeof tools>;
let sweep: () => Promise<void>;
let tenants = 0;
let tenant: string;
/** What the provider says of a charge. */
let answer: (processorId: string) => ChargeResult;
let charges: string[];
const clock = new TestClock('2026-01-15T10:00:00Z');
const declined = (processorId: string): ChargeResult => ({
  ...{ state: 'failed', code: 'card_declined', message: 'the card was declined', processorId },
});
const succeeded = (processorId: string): ChargeResult => ({ state: 'succeeded', processorId });
beforeAll(async () => {
  server = await serverBy(clock);
  api = tools(server);
  sweep = sweeping(server, clock, {
    provider: {
      ...testProvider,
      charge: ({ id, tenant: payer }) => {
        // Other tests' subscriptions go on, too.
        if (payer === tenant) charges.push(new Date(clock.now()).toISOString());
        return Promise.resolve(answer(`test_${id}`));
      },
    },
  });
});
beforeEach(() => {
  tenant = `tenant-${(tenants += 1)}`;
  clock.turn('2026-01-15T10:00:00Z');
  charges = [];
  answer = succeeded;
});
afterAll(() => server.close());

/** A renewal that has just become final, of a customer with or without a card. */
async function renewed({
  card,
}: {
  card: boolean;
}): Promise<{ subscription: Subscription; invoice: Invoice }> {
  const customer = await api.customer(tenant);
  if (card)
    await api.send('POST', '/billing/payment-methods', {
      body: { customer_id: customer.id, token: 'tok_visa' },
    });
  const subscription = await api.subscribe(tenant, await api.plan());
  clock.turn('2026-02-15T10:00:00Z');
  await sweep();
  clock.turn('2026-02-15T11:00:00Z');
  await sweep();
  const [invoice] = await api.invoices(subscription);
  return { subscription, invoice: invoice! };
}

const after = async (hours: number) => {
  clock.turn(Date.parse('2026-02-15T11:00:00Z') + hours * hour - clock.now());
  await sweep();
};

describe('a final renewal', () => {
  it('is charged to the default card at once', async () => {
    const { subscription, invoice } = await renewed({ card: true });
    expect(charges).toEqual(['2026-02-15T11:00:00.000Z']);
    expect(invoice).toMatchObject({ status: 'paid', attempt_count: 1, next_attempt_at: null });
    expect((await api.subscription(subscription.id)).status).toBe('active');
  });

  it('that fails is tried again after 24, 96 and 216 hours; then the subscription expires', async () => {
    answer = declined;
    const { subscription, invoice } = await renewed({ card: true });
    expect(invoice).toMatchObject({
      status: 'pending',
      attempt_count: 1,
      next_attempt_at: '2026-02-16T11:00:00.000Z',
    });
    expect((await api.subscription(subscription.id)).status).toBe('past_due');
    for (const hours of [23, 24, 50, 96, 200, 216]) await after(hours);
    expect(charges).toEqual([
      '2026-02-15T11:00:00.000Z',
      '2026-02-16T11:00:00.000Z',
      '2026-02-19T11:00:00.000Z',
      '2026-02-24T11:00:00.000Z',
    ]);
    expect(await api.subscription(subscription.id)).toMatchObject({ status: 'expired', canceled_at: null });
    expect(await api.invoice(invoice.id)).toMatchObject({ status: 'past_due', next_attempt_at: null });
    // It stays payable, and what was used since is invoiced.
    await after(217);
    expect((await api.invoices(subscription)).map(({ origin }) => origin)).toEqual([
      'renewal',
      'cancellation',
    ]);
    expect((await api.send('POST', `/billing/invoices/${invoice.id}/pay`)).status).toBe('paid');
  });

  it('that succeeds at the third attempt makes the subscription active again', async () => {
    answer = declined;
    const { subscription, invoice } = await renewed({ card: true });
    await after(24);
    answer = succeeded;
    await after(96);
    expect((await api.invoice(invoice.id)).status).toBe('paid');
    expect((await api.subscription(subscription.id)).status).toBe('active');
  });

  it('that the provider refuses to charge is tried again each day, and expires nothing', async () => {
    answer = () => ({ state: 'rejected', cause: new Error('the key has expired') });
    const { subscription, invoice } = await renewed({ card: true });
    for (const hours of [24, 48, 72, 96, 120]) await after(hours);
    expect(charges).toHaveLength(6);
    expect((await api.subscription(subscription.id)).status).toBe('active');
    expect(await api.invoice(invoice.id)).toMatchObject({ status: 'pending', attempt_count: 0 });
    // The first failure that is the customer's own has all its waits before it.
    answer = declined;
    await after(144);
    expect(await api.invoice(invoice.id)).toMatchObject({
      attempt_count: 1,
      next_attempt_at: '2026-02-22T11:00:00.000Z',
    });
    expect((await api.subscription(subscription.id)).status).toBe('past_due');
  });

  it('is charged once, whichever process comes first', async () => {
    const { invoice } = await renewed({ card: false });
    const { data } = await api.send('GET', `/billing/customers?tenant_id=${tenant}`);
    await api.send('POST', '/billing/payment-methods', {
      body: { customer_id: data[0].id, token: 'tok_visa' },
    });
    clock.turn(24 * hour);
    await Promise.all([sweep(), sweep(), sweep()]);
    await sweep();
    expect(charges).toHaveLength(1);
    expect((await api.invoice(invoice.id)).status).toBe('paid');
  });

  it('without a payment method is overdue after its terms, and the subscription does not expire', async () => {
    const { subscription, invoice } = await renewed({ card: false });
    await after(719);
    expect((await api.invoice(invoice.id)).status).toBe('pending');
    await after(720);
    expect((await api.invoice(invoice.id)).status).toBe('past_due');
    expect((await api.subscription(subscription.id)).status).toBe('past_due');
    await after(2_000);
    expect((await api.subscription(subscription.id)).status).toBe('past_due');
    expect(charges).toEqual([]);
  });
});

it('an invoice that credit covers is paid without a charge', async () => {
  const customer = await api.customer(tenant);
  await api.send('POST', `/billing/customers/${customer.id}/credit`, {
    body: { amount: { amount: 10_000, currency: 'usd' } },
  });
  const subscription = await api.subscribe(tenant, await api.plan());
  clock.turn('2026-02-15T10:00:00Z');
  await sweep();
  clock.turn('2026-02-15T11:00:00Z');
  await sweep();
  const [invoice] = await api.invoices(subscription);
  expect(invoice).toMatchObject({
    status: 'paid',
    credit_applied: { amount: 4900 },
    amount_due: { amount: 0 },
  });
  expect((await api.send('GET', `/billing/customers/${customer.id}`)).balance.amount).toBe(-5_100);
  expect(charges).toEqual([]);
});
