import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Customer, Invoice, Subscription } from '../../../../generated/billing/types.ts';
import type { TestServer } from '../../../testing/server.ts';
import { serverBy, TestClock, tools, usd } from '../testing.ts';
import { sweeping } from '../testing/sweeping.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
let sweep: () => Promise<void>;
let tenants = 0;
let tenant: string;
const clock = new TestClock('2026-01-01T00:00:00Z');
beforeAll(async () => {
  server = await serverBy(clock);
  api = tools(server);
  sweep = sweeping(server, clock);
});
beforeEach(() => {
  tenant = `tenant-${(tenants += 1)}`;
  clock.turn('2026-01-01T00:00:00Z');
});
afterAll(() => server.close());

interface Paid {
  readonly customer: Customer;
  readonly subscription: Subscription;
  readonly invoice: Invoice;
}

/** A tenant that has paid 365.00 for a year that has just begun. */
async function paid(): Promise<Paid> {
  const pricing = { base_amount: usd(36_500), billing_period: 'yearly' };
  const customer = await api.customer(tenant);
  const subscription = await api.subscribe(tenant, await api.plan({ pricing }));
  const { id } = await api.draft(subscription);
  return { customer, subscription, invoice: await api.send('POST', `/billing/invoices/${id}/pay`) };
}
const paymentOf = async ({ id }: Pick<Invoice, 'id'>): Promise<string> =>
  (await api.send('GET', `/billing/payments?invoice_id=${id}`)).data[0].id;
const refund = async (invoice: Invoice, amount?: number) =>
  await api.send('POST', `/billing/payments/${await paymentOf(invoice)}/refund`, {
    body: amount === undefined ? {} : { amount: usd(amount) },
  });
const balance = async ({ id }: Customer): Promise<number> =>
  (await api.send('GET', `/billing/customers/${id}`)).balance.amount;
const cancel = async ({ id }: Subscription) => {
  await api.send('POST', `/billing/subscriptions/${id}/cancel`, { body: { immediately: true } });
  clock.turn(2 * 3_600_000);
  await sweep();
};

describe('what was refunded is not credited, too', () => {
  it.each([
    ['all of it, then canceled', undefined, 0],
    ['a part, then canceled', 10_000, -26_500],
  ])('%s', async (_, amount, expected) => {
    const { customer, subscription, invoice } = await paid();
    await refund(invoice, amount);
    await cancel(subscription);
    expect(await balance(customer)).toBe(expected);
  });

  it.each([
    ['canceled, then all of it', undefined, 0],
    ['canceled, then a part', 10_000, -26_500],
  ])('%s', async (_, amount, expected) => {
    const { customer, subscription, invoice } = await paid();
    await cancel(subscription);
    expect(await balance(customer)).toBe(-36_500);
    await refund(invoice, amount);
    expect(await balance(customer)).toBe(expected);
  });

  it('canceled and refunded at once', async () => {
    const { customer, subscription, invoice } = await paid();
    await Promise.all([
      refund(invoice),
      api.send('POST', `/billing/subscriptions/${subscription.id}/cancel`, { body: { immediately: true } }),
    ]);
    clock.turn(2 * 3_600_000);
    await sweep();
    expect(await balance(customer)).toBe(0);
  });
});

describe('the refund of a payment whose credit was used', () => {
  /** Money for an invoice that was voided, and whose charges are billed again with the credit from it. */
  async function rebilled(): Promise<{ customer: Customer; first: Invoice; second: Invoice }> {
    const customer = await api.customer(tenant);
    const { id: payment_method_id } = await api.send('POST', '/billing/payment-methods', {
      body: { customer_id: customer.id, token: 'tok_visa' },
    });
    const subscription = await api.subscribe(
      tenant,
      await api.plan({ pricing: { base_amount: usd(5_000) } }),
    );
    const first = await api.finalize(await api.draft(subscription));
    const body = { invoice_id: first.id, payment_method_id, amount: usd(2_000) };
    await api.send('POST', '/billing/payments', { tenant, body });
    await expect.poll(async () => (await api.invoice(first.id)).amount_paid.amount).toBe(2_000);
    await api.send('POST', `/billing/invoices/${first.id}/void`, { body: { rebill: true } });
    const second = await api.finalize(await api.draft(subscription));
    expect(second).toMatchObject({ credit_applied: { amount: 2_000 }, amount_due: { amount: 3_000 } });
    return { customer, first, second };
  }

  it('makes due again what the credit has paid for', async () => {
    const { customer, first, second } = await rebilled();
    await refund(first);
    expect(await balance(customer)).toBe(0);
    expect(await api.invoice(second.id)).toMatchObject({
      ...{ status: 'pending', credit_applied: { amount: 0 }, amount_due: { amount: 5_000 } },
    });
  });

  it('is refused once that is paid, and says why', async () => {
    const { customer, first, second } = await rebilled();
    await api.send('POST', `/billing/invoices/${second.id}/pay`);
    expect(await api.refusal('POST', `/billing/payments/${await paymentOf(first)}/refund`)).toEqual([
      400,
      'invalid_amount',
      'amount: nothing, because the credit of this payment has paid for something else',
    ]);
    expect(await balance(customer)).toBe(0);
    expect(
      (await api.send('GET', `/billing/payments/${await paymentOf(first)}`)).refunded_amount.amount,
    ).toBe(0);
  });
});

it('credits of single lines together return what was paid, and not a cent more', async () => {
  const body = { country: 'DE', name: 'VAT', rate: '19' };
  const rate = await api.send('POST', '/billing/tax-rates', { body });
  const customer = await api.customer(tenant, { billing_address: { country: 'DE' } });
  const keys = ['one', 'two', 'three', 'four', 'five', 'six'];
  const subscription = await api.subscribe(
    tenant,
    await api.plan({
      features: keys.map((key) => ({ key, type: 'metered' })),
      pricing: { tiers: keys.map((feature_key) => ({ feature_key, up_to: -1, unit_amount: usd(3) })) },
    }),
  );
  for (const key of keys) await api.use(tenant, key, 1);
  const { id } = await api.draft(subscription);
  const invoice = await api.send('POST', `/billing/invoices/${id}/pay`);
  expect(invoice.total.amount).toBe(21);
  const { data } = await api.send('GET', `/billing/meter/events?tenant_id=${tenant}&limit=10`);
  for (const event of data) {
    await api.send('POST', `/billing/meter/events/${event.id}/void`);
    await api.finalize(await api.draft(subscription));
  }
  expect(await balance(customer)).toBe(-21);
  await api.send('DELETE', `/billing/tax-rates/${rate.id}`);
});
