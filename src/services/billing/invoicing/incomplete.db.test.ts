import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { TestServer } from '../../../testing/server.ts';
import { serverBy, TestClock, tools } from '../testing.ts';
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
  await api.send('POST', '/billing/tax-rates', { body: { country: 'DE', name: 'VAT', rate: '19' } });
});
beforeEach(() => {
  tenant = `tenant-${(tenants += 1)}`;
  clock.turn('2026-01-15T10:00:00Z');
});
afterAll(() => server.close());

/** Lets time pass, as sweeps would see it. */
async function live(until: string): Promise<void> {
  for (const end = Date.parse(until); clock.now() < end;) {
    clock.turn(Math.min(6 * 3_600_000, end - clock.now()));
    await sweep();
  }
}

it('a debt whose tax is not known becomes final after a week without tax, is overdue, and outlives the customer', async () => {
  const customer = await api.customer(tenant);
  const subscription = await api.subscribe(tenant, await api.plan());
  await live('2026-02-15T12:00:00Z');
  const [draft] = await api.invoices(subscription);
  expect(draft).toMatchObject({ status: 'draft', tax_status: 'incomplete_address' });
  expect((await api.refusal('POST', `/billing/invoices/${draft!.id}/finalize`))[1]).toBe(
    'invoice_incomplete',
  );
  await live('2026-02-22T12:00:00Z');
  expect(await api.invoice(draft!.id)).toMatchObject({
    ...{ status: 'pending', tax_status: 'incomplete_address', customer_id: customer.id },
    ...{ total: { amount: 4_900 }, tax_amount: { amount: 0 }, taxes: [] },
  });
  const body = { immediately: true };
  await api.send('POST', `/billing/subscriptions/${subscription.id}/cancel`, { tenant, body });
  expect((await api.refusal('DELETE', `/billing/customers/${customer.id}`, { tenant })).slice(0, 2)).toEqual([
    409,
    'customer_in_use',
  ]);
  await live('2026-03-25T12:00:00Z');
  expect((await api.invoices(subscription)).map(({ status }) => status)).toEqual(['past_due', 'pending']);
  expect((await api.refusal('DELETE', `/billing/customers/${customer.id}`, { tenant }))[2]).toBe(
    'customer has open invoices',
  );
});

it('an address that comes within the week is taxed', async () => {
  const customer = await api.customer(tenant);
  const subscription = await api.subscribe(tenant, await api.plan());
  await live('2026-02-16T10:00:00Z');
  const address = { billing_address: { country: 'DE' } };
  await api.send('PUT', `/billing/customers/${customer.id}`, { tenant, body: address });
  await live('2026-02-16T16:00:00Z');
  expect(await api.invoices(subscription)).toMatchObject([
    { status: 'pending', tax_status: 'complete', tax_amount: { amount: 931 } },
  ]);
});

it('a tenant does not remove the country of its customer while it is billed', async () => {
  const customer = await api.customer(tenant, { billing_address: { country: 'DE' } });
  const path = `/billing/customers/${customer.id}`;
  const gone = { tenant, body: { billing_address: null } };
  await api.send('PUT', path, gone);
  await api.send('PUT', path, { tenant, body: { billing_address: { country: 'DE' } } });
  const subscription = await api.subscribe(tenant, await api.plan());
  const refusal = [
    ...[400, 'invalid_input'],
    'billing_address: only the operator removes the country while the customer is billed',
  ];
  expect(await api.refusal('PUT', path, gone)).toEqual(refusal);
  const cityOnly = { tenant, body: { billing_address: { city: 'Berlin' } } };
  expect(await api.refusal('PUT', path, cityOnly)).toEqual(refusal);
  await live('2026-02-15T12:00:00Z');
  expect(await api.invoices(subscription)).toMatchObject([{ tax_amount: { amount: 931 } }]);
});
