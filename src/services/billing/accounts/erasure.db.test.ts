import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { TestServer } from '../../../testing/server.ts';
import { attach } from '../payments/methods.ts';
import { processOn } from '../payments/testing.ts';
import type { Source } from '../providers/provider.ts';
import { testProvider } from '../providers/test-provider.ts';
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

const erase = (id: string) => api.send('DELETE', `/billing/customers/${id}`, { tenant });

const cancel = ({ id }: { id: string }) =>
  api.send('POST', `/billing/subscriptions/${id}/cancel`, { tenant, body: { immediately: true } });
const refused = async (id: string) => {
  const { status, body } = await server.request('DELETE', `/billing/billing/customers/${id}`, { tenant });
  return [status, body.error.code, body.error.message, body.error.details];
};

it('waits until what the customer owes is billed and paid, and names it', async () => {
  const customer = await api.customer(tenant);
  const subscription = await api.subscribe(tenant, await api.plan(), { customer_id: customer.id });
  const shown = await api.draft(subscription);
  clock.turn('2026-01-20T10:00:00Z');
  await cancel(subscription);
  expect(await refused(customer.id)).toEqual([
    ...[409, 'customer_in_use', 'customer has amounts that are not billed'],
    { subscription_ids: [subscription.id] },
  ]);
  clock.turn('2026-01-20T12:00:00Z');
  await sweep();
  const invoice = (await api.invoices(subscription)).at(-1)!;
  const payment = await api.send('POST', '/billing/payments', { tenant, body: { invoice_id: invoice.id } });
  expect(await refused(customer.id)).toEqual([
    ...[409, 'customer_in_use', 'customer has open invoices, pending payments'],
    { invoice_ids: [invoice.id], payment_ids: [payment.id] },
  ]);
  await api.send('POST', `/billing/invoices/${invoice.id}/pay`);
  await erase(customer.id);
  expect(await api.invoice(invoice.id)).toMatchObject({
    ...{ status: 'paid', total: { amount: 790 }, customer_id: customer.id },
    bill_to: { name: 'Acme GmbH', email: `billing@${tenant}.example` },
  });
  expect(await api.invoice(shown.id)).toMatchObject({
    status: 'voided',
    void_reason: 'customer was erased',
  });
});

it('waits while the customer has credit', async () => {
  const customer = await api.customer(tenant);
  await api.send('POST', `/billing/customers/${customer.id}/credit`, { body: { amount: usd(500) } });
  expect(await refused(customer.id)).toMatchObject([
    ...[409, 'customer_in_use', 'customer has credit'],
    { balance: { amount: -500, currency: 'usd' } },
  ]);
});

it('usage that comes after it, and whose tax nobody can know any more, is written off', async () => {
  const body = { country: 'DE', name: 'VAT', rate: '19' };
  const rate = await api.send('POST', '/billing/tax-rates', { body });
  const customer = await api.customer(tenant, { billing_address: { country: 'DE' } });
  const subscription = await api.subscribe(tenant, await api.plan(), { customer_id: customer.id });
  clock.turn('2026-01-20T10:00:00Z');
  await cancel(subscription);
  clock.turn('2026-01-20T12:00:00Z');
  await sweep();
  const [first] = await api.invoices(subscription);
  await api.send('POST', `/billing/invoices/${first!.id}/pay`);
  await erase(customer.id);
  await api.use(tenant, 'api_calls', 20_000, { timestamp: '2026-01-19T00:00:00Z' });
  clock.turn('2026-02-24T10:00:00Z');
  await sweep();
  clock.turn('2026-02-24T12:00:00Z');
  await sweep();
  const [, late] = await api.invoices(subscription);
  expect(await api.invoice(first!.id)).toMatchObject({
    ...{ total: { amount: 940 }, bill_to: { name: 'Acme GmbH' } },
  });
  expect(late).toMatchObject({ status: 'voided', void_reason: 'customer was erased' });
  await api.send('DELETE', `/billing/tax-rates/${rate.id}`);
});

it('while the provider attaches a payment method, neither here nor there keeps it', async () => {
  const customer = await api.customer(tenant);
  const detached: Source[] = [];
  const deps = processOn(server.db, clock, {
    ...testProvider,
    async attach(attachment) {
      await erase(customer.id);
      return await testProvider.attach(attachment);
    },
    detach: (source) => {
      detached.push(source);
      return testProvider.detach(source);
    },
  });
  const asking = {
    author: { tenant, app: 'default', actor: 'test' },
    view: { tenant, app: 'default' },
  };
  await expect(
    attach(deps, asking, { customer_id: customer.id, token: 'tok_visa', set_default: false }),
  ).rejects.toThrow('customer not found');
  await deps.later.idle();
  expect(detached.map(({ processorId }) => processorId)).toEqual(['tok_visa']);
  const kept = await server.db.sql`select from billing.payment_method where customer_id = ${customer.id}`;
  expect(kept).toHaveLength(0);
});
