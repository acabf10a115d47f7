import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TestServer } from '../../../testing/server.ts';
import { until } from '../../../testing/until.ts';
import { serverBy, TestClock, tools, usd } from '../testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
let tenants = 0;
let tenant: string;
const clock = new TestClock('2026-01-15T10:00:00Z');
beforeAll(async () => {
  server = await serverBy(clock);
  api = tools(server);
});
beforeEach(() => {
  tenant = `tenant-${(tenants += 1)}`;
});
afterAll(() => server.close());

const credit = (id: string, body: object) =>
  server.request('POST', `/billing/billing/customers/${id}/credit`, { body });

describe('credit', () => {
  it('pays the next invoice', async () => {
    const customer = await api.customer(tenant);
    const body = { amount: usd(1_000), reason: 'outage' };
    expect((await credit(customer.id, body)).body).toMatchObject({
      customer_id: customer.id,
      balance: { amount: -1_000, display: '-$10.00' },
      credit_applied: { amount: 1_000 },
    });
    const final = await api.finalize(await api.draft(await api.subscribe(tenant, await api.plan())));
    expect(final).toMatchObject({ credit_applied: { amount: 1_000 }, amount_due: { amount: 3_900 } });
    expect((await api.send('GET', `/billing/customers/${customer.id}`)).balance.amount).toBe(0);
  });

  it('with a key is given once, however often and how many at once ask', async () => {
    const { id } = await api.customer(tenant);
    const body = { amount: usd(1_000), idempotency_key: 'gift' };
    const answers = await Promise.all(Array.from({ length: 16 }, () => credit(id, body)));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 16 }, () => 200));
    expect((await api.send('GET', `/billing/customers/${id}`)).balance.amount).toBe(-1_000);
    expect((await credit(id, { ...body, amount: usd(2_000) })).body.error.code).toBe(
      'duplicate_idempotency_key',
    );
  });

  it('is refused in another currency, of nothing, and to others than the operator', async () => {
    const { id } = await api.customer(tenant);
    expect((await credit(id, { amount: { amount: 5, currency: 'eur' } })).body.error).toMatchObject({
      ...{ code: 'invalid_amount', param: 'amount' },
    });
    expect((await credit(id, { amount: usd(0) })).body.error.code).toBe('invalid_amount');
    const own = { body: { amount: usd(5) }, tenant };
    expect((await server.request('POST', `/billing/billing/customers/${id}/credit`, own)).status).toBe(403);
  });
});

describe('erasure', () => {
  it('waits for the end of the subscription; final invoices keep whom they billed', async () => {
    const customer = await api.customer(tenant, { billing_address: { city: 'Berlin', country: 'de' } });
    const subscription = await api.subscribe(tenant, await api.plan());
    const final = await api.finalize(await api.draft(subscription));
    expect(await api.refusal('DELETE', `/billing/customers/${customer.id}`)).toEqual([
      ...[400, 'has_active_subscriptions', 'customer has a live subscription'],
    ]);
    await api.send('POST', `/billing/subscriptions/${subscription.id}/cancel`, {
      body: { immediately: true },
    });
    clock.turn(1_000);
    const [, credit] = await api.invoices(subscription);
    await api.finalize(credit!);
    await api.send('DELETE', `/billing/customers/${customer.id}`);
    expect((await api.refusal('GET', `/billing/customers/${customer.id}`))[1]).toBe('customer_not_found');
    expect((await api.invoice(final.id)).bill_to).toMatchObject({
      name: 'Acme GmbH',
      billing_address: { city: 'Berlin', country: 'DE' },
    });
    const left = await server.db.sql`
      select from billing.customer where id = ${customer.id} and (name <> '' or email <> '' or billing_address is not null)`;
    expect(left).toHaveLength(0);
    expect((await api.customer(tenant)).id).not.toBe(customer.id);
  });

  it('and a subscription that names the customer cannot both succeed', async () => {
    const plan = await api.plan();
    const customer = await api.customer(tenant);
    const [made, erased] = await Promise.all([
      server.request('POST', '/billing/billing/subscriptions', {
        body: { tenant_id: tenant, plan_id: plan.id, customer_id: customer.id },
      }),
      server.request('DELETE', `/billing/billing/customers/${customer.id}`),
    ]);
    expect([
      [201, 400],
      [404, 204],
    ]).toContainEqual([made.status, erased.status]);
  });
});

describe('of a customer', () => {
  it('the subscriptions, the invoices and the usage are listed', async () => {
    const customer = await api.customer(tenant);
    expect(await api.send('GET', `/billing/customers/${customer.id}/usage`)).toEqual({
      ...{ customer_id: customer.id, period_start: null, period_end: null, usage: {} },
    });
    const subscription = await api.subscribe(tenant, await api.plan());
    await api.use(tenant, 'seats', 3);
    const draft = await api.draft(subscription);
    const list = (what: string) => api.send('GET', `/billing/customers/${customer.id}/${what}`);
    expect(await list('subscriptions')).toMatchObject({
      data: [{ id: subscription.id }],
      pagination: { total: 1 },
    });
    expect(await list('invoices?status=draft')).toMatchObject({ data: [{ id: draft.id, line_items: [] }] });
    expect((await list('invoices?status=paid')).data).toEqual([]);
    expect(await list('usage')).toMatchObject({
      period_start: new Date(clock.now()).toISOString(),
      usage: {
        seats: { used: 3, limit: 20, remaining: 17 },
        api_calls: { used: 0, limit: -1, remaining: -1 },
      },
    });
  });

  it('everything is exported, a record a line', async () => {
    const customer = await api.customer(tenant);
    const method = await api.send('POST', '/billing/payment-methods', {
      body: { customer_id: customer.id, token: 'tok_visa' },
    });
    const subscription = await api.subscribe(tenant, await api.plan());
    await Promise.all(Array.from({ length: 3 }, () => api.use(tenant, 'seats', 1)));
    const invoice = await api.finalize(await api.draft(subscription));
    const payment = await api.send('POST', '/billing/payments', {
      body: { invoice_id: invoice.id, payment_method_id: method.id },
    });
    await until(
      async () => (await api.send('GET', `/billing/payments/${payment.id}`)).status === 'succeeded',
    );
    const refund = { amount: usd(1_000), reason: 'a gesture' };
    await api.send('POST', `/billing/payments/${payment.id}/refund`, { body: refund });
    await credit(customer.id, { amount: usd(300), reason: 'outage' });
    const { status, text } = await server.request('GET', `/billing/billing/customers/${customer.id}/export`);
    expect(status).toBe(200);
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { kind: string; record: object });
    expect(lines.map(({ kind }) => kind)).toEqual([
      ...['customer', 'payment_method', 'subscription', 'invoice', 'payment', 'refund', 'balance_entry'],
      ...['usage_event', 'usage_event', 'usage_event'],
    ]);
    const record = (kind: string) => lines.find((line) => line.kind === kind)?.record;
    expect(record('refund')).toMatchObject({
      ...{ payment_id: payment.id, amount: { amount: 1_000, currency: 'usd' }, reason: 'a gesture' },
    });
    expect(record('balance_entry')).toMatchObject({
      ...{ customer_id: customer.id, amount: { amount: -300, currency: 'usd' }, reason: 'outage' },
    });
  });
});
