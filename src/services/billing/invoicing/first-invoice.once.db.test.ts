import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TestServer } from '../../../testing/server.ts';
import { serverBy, TestClock, tools } from '../testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
const clock = new TestClock('2026-01-15T10:00:00Z');
beforeAll(async () => {
  server = await serverBy(clock);
  api = tools(server);
});
afterAll(() => server.close());

it('usage becomes an invoice, and the invoice is paid', async () => {
  const plan = await api.plan();
  const customer = await api.customer('acme');
  const subscription = await api.subscribe('acme', plan);
  expect(subscription).toMatchObject({
    status: 'active',
    current_period_start: '2026-01-15T10:00:00.000Z',
    current_period_end: '2026-02-15T10:00:00.000Z',
  });
  await api.use('acme', 'api_calls', 10_200);
  clock.turn('2026-01-20T10:00:00Z');
  const draft = await api.draft(subscription);
  expect(draft).toMatchObject({
    number: null,
    status: 'draft',
    customer_id: customer.id,
    subtotal: { amount: 5000, display: '$50.00' },
    total: { amount: 5000 },
    line_items: [
      { type: 'base', description: 'Pro', amount: { amount: 4900 }, quantity: 1 },
      { type: 'usage', description: 'API calls (1 – 10,000)', amount: { amount: 0 } },
      { type: 'usage', description: 'API calls (10,001 – 10,200)', quantity: 200, amount: { amount: 100 } },
    ],
  });
  const final = await api.finalize(draft);
  expect(final).toMatchObject({
    number: 'INV-2026-000001',
    status: 'pending',
    bill_to: { name: 'Acme GmbH' },
    amount_due: { amount: 5000 },
  });
  expect(await api.send('POST', `/billing/invoices/${final.number}/finalize`)).toEqual(final);
  const method = await api.send('POST', '/billing/payment-methods', {
    body: { customer_id: customer.id, token: 'tok_visa' },
  });
  const payment = await api.send('POST', '/billing/payments', {
    body: { invoice_id: draft.id, payment_method_id: method.id },
  });
  expect(payment).toMatchObject({ status: 'pending', amount: { amount: 5000 } });
  await expect
    .poll(() => api.invoice(draft.id))
    .toMatchObject({ status: 'paid', amount_paid: { amount: 5000 } });
  expect(await api.send('GET', `/billing/payments/${payment.id}`)).toMatchObject({ status: 'succeeded' });
});
