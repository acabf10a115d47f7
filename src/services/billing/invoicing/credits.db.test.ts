import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Customer, Invoice, Subscription } from '../../../../generated/billing/types.ts';
import type { TestServer } from '../../../testing/server.ts';
import { until } from '../../../testing/until.ts';
import { serverBy, TestClock, tools, usd } from '../testing.ts';
import { sweeping } from '../testing/sweeping.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
let sweep: () => Promise<void>;
let tenants = 0;
let tenant: string;
const clock = new TestClock('2026-01-15T10:00:00Z');
beforeAll(async () => {
  server = await serverBy(clock);
  api = tools(server);
  sweep = sweeping(server, clock);
});
beforeEach(() => {
  tenant = `tenant-${(tenants += 1)}`;
  clock.turn('2026-01-15T10:00:00Z');
});
afterAll(() => server.close());

const livingIn = (country: string) => ({ billing_address: { country } });
const yearly = () => api.plan({ pricing: { base_amount: usd(36_500), billing_period: 'yearly' } });
const billed = async (subscription: Subscription) => await api.finalize(await api.draft(subscription));
const paid = async (subscription: Subscription): Promise<Invoice> =>
  await api.send('POST', `/billing/invoices/${(await billed(subscription)).id}/pay`);

/** Cancels a subscription at once, and returns the invoice of its end, which is final, and what its customer has. */
async function left(
  { id }: Subscription,
  customer: Customer,
): Promise<{ credit: Invoice | undefined; balance: number }> {
  await api.send('POST', `/billing/subscriptions/${id}/cancel`, { body: { immediately: true } });
  clock.turn(2 * 3_600_000);
  await sweep();
  const credit = (await api.invoices({ id })).find(({ origin }) => origin === 'cancellation');
  return { credit, balance: (await api.send('GET', `/billing/customers/${customer.id}`)).balance.amount };
}

it('a charge that was discounted is given back at its discount', async () => {
  await api.send('POST', '/billing/coupons', {
    body: { code: 'HALF', type: 'percentage', percentage: '50' },
  });
  const customer = await api.customer(tenant);
  const subscription = await api.subscribe(tenant, await yearly());
  const body = { subscription_id: subscription.id };
  await api.send('POST', '/billing/coupons/HALF/redeem', { body });
  expect((await paid(subscription)).total.amount).toBe(18_250);
  const { credit, balance } = await left(subscription, customer);
  expect(credit).toMatchObject({
    ...{ subtotal: { amount: -36_500 }, discount_amount: { amount: -18_250 }, total: { amount: -18_250 } },
    discounts: [{ code: 'HALF', amount: { amount: -18_250 } }],
  });
  expect(balance).toBe(-18_250);
});

it('a charge that is still to be paid is set off, and what was open of it is canceled', async () => {
  const customer = await api.customer(tenant);
  const subscription = await api.subscribe(tenant, await yearly());
  // To pay makes a draft final, also when the payment remains open.
  const { id } = await api.draft(subscription);
  const amount = usd(500);
  const payment = await api.send('POST', '/billing/payments', { tenant, body: { invoice_id: id, amount } });
  const { credit, balance } = await left(subscription, customer);
  expect(credit).toMatchObject({ status: 'paid', total: { amount: -36_500 } });
  expect(balance).toBe(0);
  expect(await api.invoice(id)).toMatchObject({
    ...{ status: 'paid', total: { amount: 36_500 }, credit_applied: { amount: 36_500 } },
    ...{ amount_due: { amount: 0 }, amount_paid: { amount: 0 } },
  });
  expect((await api.send('GET', `/billing/payments/${payment.id}`)).status).toBe('canceled');
});

it('a charge that was paid in part is set off as far as it is open', async () => {
  const customer = await api.customer(tenant);
  const { id: payment_method_id } = await api.send('POST', '/billing/payment-methods', {
    body: { customer_id: customer.id, token: 'tok_visa' },
  });
  const subscription = await api.subscribe(tenant, await yearly());
  const { id } = await billed(subscription);
  const body = { invoice_id: id, payment_method_id, amount: usd(30_000) };
  await api.send('POST', '/billing/payments', { tenant, body });
  await until(async () => (await api.invoice(id)).amount_paid.amount === 30_000);
  expect((await left(subscription, customer)).balance).toBe(-30_000);
  expect(await api.invoice(id)).toMatchObject({ status: 'paid', credit_applied: { amount: 6_500 } });
});

it('a charge that was written off is not given back', async () => {
  const customer = await api.customer(tenant);
  const subscription = await api.subscribe(tenant, await yearly());
  const { id } = await billed(subscription);
  await api.send('POST', `/billing/invoices/${id}/void`);
  expect(await left(subscription, customer)).toEqual({ credit: undefined, balance: 0 });
});

it('a charge that is given back and then written off pays for nothing else', async () => {
  const customer = await api.customer(tenant);
  const pricing = { base_amount: usd(31_000), tiers: [] };
  const subscription = await api.subscribe(tenant, await api.plan({ pricing }));
  for (const at of ['2026-02-15T10:00:00Z', '2026-02-15T12:00:00Z']) {
    clock.turn(at);
    await sweep();
  }
  const [first] = await api.invoices(subscription);
  const second = await billed(subscription);
  await left(subscription, customer);
  await api.send('POST', `/billing/invoices/${second.id}/void`);
  expect(await api.invoice(first!.id)).toMatchObject({ status: 'pending', amount_due: { amount: 31_000 } });
  expect((await api.send('GET', `/billing/customers/${customer.id}`)).balance.amount).toBe(0);
});

it.each([
  ['untaxed is given back without a tax', 'US', 'DE', 0],
  ['taxed is given back with its tax', 'DE', 'US', 6_935],
])('a charge that was %s, wherever the customer has moved', async (_, from, to, tax) => {
  const rate = await api.send('POST', '/billing/tax-rates', {
    body: { country: 'DE', name: 'VAT', rate: '19' },
  });
  const customer = await api.customer(tenant, livingIn(from));
  const subscription = await api.subscribe(tenant, await yearly());
  expect((await paid(subscription)).tax_amount.amount).toBe(tax);
  await api.send('PUT', `/billing/customers/${customer.id}`, { body: livingIn(to) });
  const { credit, balance } = await left(subscription, customer);
  expect(credit).toMatchObject({ subtotal: { amount: -36_500 }, tax_amount: { amount: 0 - tax } });
  expect(balance).toBe(-36_500 - tax);
  await api.send('DELETE', `/billing/tax-rates/${rate.id}`);
});
