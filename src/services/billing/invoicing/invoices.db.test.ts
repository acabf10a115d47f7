import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Invoice } from '../../../../generated/billing/types.ts';
import type { TestServer } from '../../../testing/server.ts';
import { serverBy, TestClock, tools } from '../testing.ts';

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
  clock.turn('2026-01-15T10:00:00Z');
});
afterAll(() => server.close());

const post = (path: string, options: Parameters<TestServer['request']>[2] = {}) =>
  server.request('POST', `/billing${path}`, options);
const subscribed = async () => await api.subscribe(tenant, await api.plan());
const codes = (answers: readonly { status: number; body?: { error?: { code: string } } }[]) =>
  answers.map(({ status, body }) => `${status} ${body?.error?.code ?? ''}`.trim()).sort();

describe('numbers', () => {
  it('32 invoices that become final at once have 32 numbers without a gap, and the next year starts again', async () => {
    const plan = await api.plan();
    const drafts = await Promise.all(
      Array.from({ length: 33 }, async (_, index) =>
        api.draft(await api.subscribe(`${tenant}-${index}`, plan)),
      ),
    );
    expect(drafts.map(({ number }) => number)).toEqual(drafts.map(() => null));
    const sequence = ({ number }: Invoice) => Number(number!.slice(-6));
    const first = sequence(await api.finalize(drafts[0]!));
    // Those that nobody makes final take no number.
    await api.send('POST', `/billing/invoices/${drafts[1]!.id}/void`);
    const made = await Promise.all(drafts.slice(2).map(api.finalize));
    expect(made.map(sequence).sort((one, other) => one - other)).toEqual(
      Array.from({ length: 31 }, (_, index) => first + 1 + index),
    );
    expect((await api.invoice(drafts[1]!.id)).number).toBeNull();
    clock.turn('2027-01-01T00:00:00Z');
    const { subscription_id: id } = drafts[1]!;
    const [renewed] = (await api.draft({ id }), await api.invoices({ id })).filter(
      ({ origin }) => origin === 'renewal',
    );
    expect((await api.finalize(renewed!)).number).toBe('INV-2027-000001');
  });

  it('an invoice is found by its number, in its tenant only', async () => {
    const { id, number } = await api.finalize(await api.draft(await subscribed()));
    expect((await api.send('GET', `/billing/invoices/${number}`, { tenant })).id).toBe(id);
    const [missing, foreign] = await Promise.all([
      server.request('GET', '/billing/billing/invoices/INV-1999-000001', { tenant }),
      server.request('GET', `/billing/billing/invoices/${number}`, { tenant: 'other' }),
    ]);
    expect([foreign.status, foreign.text]).toEqual([missing.status, missing.text]);
  });
});

describe('finalize', () => {
  it('of two drafts at once bills the charges once', async () => {
    const subscription = await subscribed();
    clock.turn('2026-01-20T10:00:00Z');
    const drafts = [await api.draft(subscription), await api.draft(subscription)];
    const answers = await Promise.all(drafts.map(({ id }) => post(`/billing/invoices/${id}/finalize`)));
    expect(codes(answers)).toEqual(['200', '400 invoice_incomplete']);
  });

  it('twice at once makes one invoice', async () => {
    const draft = await api.draft(await subscribed());
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => post(`/billing/invoices/${draft.id}/finalize`)),
    );
    expect(codes(answers)).toEqual(Array.from({ length: 8 }, () => '200'));
    const numbers = answers.map(({ body }) => (body as { number: string }).number);
    expect(new Set(numbers).size).toBe(1);
  });

  it('usage that arrives meanwhile is in this invoice or in the next one', async () => {
    const subscription = await subscribed();
    const draft = await api.draft(subscription);
    const uses = Array.from({ length: 20 }, () => api.use(tenant, 'api_calls', 1_000));
    const [final] = await Promise.all([api.finalize(draft), ...uses]);
    const next = await api.draft(subscription);
    const of = ({ line_items }: Invoice) =>
      line_items
        .filter(({ feature_key }) => feature_key === 'api_calls')
        .reduce((sum, one) => sum + one.amount.amount, 0);
    expect(of(final) + of(next)).toBe(5_000);
  });

  it('needs the country of the customer once the app has tax rates, which then tax the subtotal', async () => {
    const rate = await api.send('POST', '/billing/tax-rates', {
      body: { country: 'de', name: 'VAT', rate: '19' },
    });
    try {
      const customer = await api.customer(tenant);
      const draft = await api.draft(await subscribed());
      expect(await api.refusal('POST', `/billing/invoices/${draft.id}/finalize`)).toEqual([
        ...[400, 'invoice_incomplete', 'customer has no country, so that its tax is not known'],
      ]);
      await api.send('PUT', `/billing/customers/${customer.id}`, {
        body: { billing_address: { country: 'de' } },
      });
      expect(await api.finalize(draft)).toMatchObject({
        subtotal: { amount: 4900 },
        tax_amount: { amount: 931 },
        total: { amount: 5831 },
        taxes: [{ tax_rate_id: rate.id, rate: '19', taxable_amount: { amount: 4900 } }],
      });
    } finally {
      await api.send('DELETE', `/billing/tax-rates/${rate.id}`);
    }
  });
});

describe('drafts of one subscription', () => {
  const amounts = (invoices: readonly Invoice[]) => invoices.map(({ subtotal }) => subtotal.amount);

  it('show what the others do not show, and bill what they show', async () => {
    const subscription = await subscribed();
    await api.use(tenant, 'api_calls', 12_000);
    const first = await api.draft(subscription);
    await api.use(tenant, 'api_calls', 2_000);
    const [second, third] = [await api.draft(subscription), await api.draft(subscription)];
    expect(amounts([first, second, third])).toEqual([5_900, 1_000, 0]);
    const finals = await Promise.all([api.finalize(second), api.finalize(first)]);
    expect(amounts(finals)).toEqual([1_000, 5_900]);
    expect((await api.draft(subscription)).line_items).toEqual([]);
  });

  it('that nobody asked for do not wait for those that somebody asked for', async () => {
    const subscription = await subscribed();
    const asked = await api.draft(subscription);
    expect(amounts([asked])).toEqual([4_900]);
    clock.turn('2026-02-15T10:00:00Z');
    await api.send('GET', `/billing/subscriptions/${subscription.id}/upcoming-invoice`);
    const [left, renewed] = await api.invoices(subscription);
    expect(renewed).toMatchObject({ origin: 'renewal', subtotal: { amount: 4_900 } });
    expect(left!.id).toBe(asked.id);
    expect(left!.line_items.map(({ period_start }) => period_start)).not.toContain(
      asked.line_items[0]!.period_start,
    );
    expect((await api.finalize(renewed!)).subtotal.amount).toBe(4_900);
  });
});

describe('void', () => {
  it('writes the charges off; with rebill, they are owed again', async () => {
    const subscription = await subscribed();
    const first = await api.finalize(await api.draft(subscription));
    expect(
      await api.send('POST', `/billing/invoices/${first.id}/void`, { body: { reason: 'mistake' } }),
    ).toMatchObject({
      status: 'voided',
      void_reason: 'mistake',
      next_attempt_at: null,
    });
    expect((await api.draft(subscription)).line_items).toEqual([]);
    expect(await api.refusal('POST', `/billing/invoices/${first.id}/void`)).toEqual([
      ...[400, 'invoice_voided', 'invoice is voided'],
    ]);
    tenant = `${tenant}-rebilled`;
    const other = await subscribed();
    const voided = await api.finalize(await api.draft(other));
    await api.send('POST', `/billing/invoices/${voided.id}/void`, { body: { rebill: true } });
    expect((await api.draft(other)).total.amount).toBe(4900);
  });
});

describe('pay', () => {
  it('records a payment outside the providers; a draft becomes final with it', async () => {
    const customer = await api.customer(tenant);
    const draft = await api.draft(await subscribed());
    const body = { payment_ref: 'transfer 7', paid_at: '2026-01-14T08:15:00Z' };
    expect(await api.send('POST', `/billing/invoices/${draft.id}/pay`, { body })).toMatchObject({
      status: 'paid',
      amount_paid: { amount: 4900 },
      paid_at: '2026-01-14T08:15:00.000Z',
      payment_ref: 'transfer 7',
    });
    const { data } = await api.send('GET', `/billing/payments?invoice_id=${draft.id}`);
    expect(data).toMatchObject([
      { status: 'succeeded', processor_name: 'manual', customer_id: customer.id, amount: { amount: 4900 } },
    ]);
    expect(await api.refusal('POST', `/billing/invoices/${draft.id}/pay`)).toEqual([
      400,
      'invoice_paid',
      'invoice is paid',
    ]);
    expect((await api.refusal('POST', `/billing/invoices/${draft.id}/void`))[1]).toBe('invoice_paid');
  });

  it('8 times at once records one payment', async () => {
    const draft = await api.draft(await subscribed());
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => post(`/billing/invoices/${draft.id}/pay`)),
    );
    expect(codes(answers)).toEqual(Array.from({ length: 8 }, () => '200'));
    const { data } = await api.send('GET', `/billing/payments?invoice_id=${draft.id}`);
    expect(data).toHaveLength(1);
  });
});

it('a tenant drafts and reads its invoices, and nothing more', async () => {
  const draft = await api.draft(await subscribed());
  for (const verb of ['finalize', 'void', 'pay'])
    expect((await post(`/billing/invoices/${draft.id}/${verb}`, { tenant })).status).toBe(403);
  expect((await server.request('GET', `/billing/billing/invoices/${draft.id}`, { tenant })).status).toBe(200);
  const foreign = await post('/billing/invoices', {
    tenant: 'other',
    body: { subscription_id: draft.subscription_id },
  });
  expect([foreign.status, foreign.body.error.code]).toEqual([404, 'subscription_not_found']);
});
