/** A change of state whose result stands already answers with that state; only a contradiction is an error. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Invoice, Subscription } from '../../../../generated/billing/types.ts';
import type { TestServer } from '../../../testing/server.ts';
import { serverBy, TestClock, tools, usd } from '../testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
let tenants = 0;
let subscription: Subscription;
const clock = new TestClock('2026-01-15T10:00:00Z');
beforeAll(async () => {
  server = await serverBy(clock);
  api = tools(server);
  await server.db.sql`insert into plinth.relay_positions (service, consumer) values ('billing', 'test')`;
});
beforeEach(async () => {
  tenants += 1;
  const tenant = `repeating-${tenants}`;
  await api.customer(tenant);
  subscription = await api.subscribe(tenant, await api.plan());
  clock.turn(1_000);
});
afterAll(() => server.close());

/** Sends a request twice, a second apart, expects the same answer and nothing that happened a second time. */
async function twice(path: string, body: object = {}): Promise<unknown> {
  const first = await api.send('POST', path, { body });
  const events = await recorded();
  clock.turn(1_000);
  expect(await api.send('POST', path, { body }), path).toEqual(first);
  expect(await recorded(), path).toBe(events);
  return first;
}

async function recorded(): Promise<number> {
  const [{ total }] = await server.db.sql<[{ total: number }]>`
    select count(*)::integer as total from billing.outbox where tenant_id = ${subscription.tenant_id}`;
  return total;
}

const of = ({ id }: { id: string }, verb: string) => `/billing/subscriptions/${id}/${verb}`;
const on = ({ id }: { id: string }, verb: string) => `/billing/invoices/${id}/${verb}`;

describe('of a subscription', () => {
  it('pause and resume are repeated without an effect; another end of the pause is a contradiction', async () => {
    const until = { resume_at: '2026-02-01T00:00:00.000Z' };
    expect(await twice(of(subscription, 'pause'), until)).toMatchObject({ status: 'paused' });
    expect(await api.refusal('POST', of(subscription, 'pause'))).toEqual([
      ...[400, 'invalid_state', 'subscription is paused'],
    ]);
    expect(await twice(of(subscription, 'resume'))).toMatchObject({ status: 'active', resume_at: null });
  });

  it('a cancellation and its withdrawal are repeated without an effect', async () => {
    expect(await twice(of(subscription, 'cancel'))).toMatchObject({
      cancel_at: subscription.current_period_end,
    });
    expect(await twice(of(subscription, 'uncancel'))).toMatchObject({ cancel_at: null });
    clock.turn(86_400_000);
    expect(await twice(of(subscription, 'cancel'), { immediately: true })).toMatchObject({
      status: 'canceled',
    });
    expect(await api.invoices(subscription)).toHaveLength(1);
    expect(await api.refusal('POST', of(subscription, 'cancel'))).toEqual([
      ...[400, 'subscription_canceled', 'subscription has ended'],
    ]);
    for (const verb of ['pause', 'resume', 'uncancel'])
      expect(await api.refusal('POST', of(subscription, verb))).toEqual([
        ...[400, 'invalid_state', 'subscription is canceled'],
      ]);
  });

  it('a change of the plan is repeated without an effect', async () => {
    const { id: plan_id } = await api.plan({ pricing: { base_amount: usd(9_900) } });
    expect(await twice(of(subscription, 'change-plan'), { plan_id })).toMatchObject({ plan_id });
  });

  it('a coupon is redeemed once, however often it is asked for', async () => {
    const coupon = { code: `REPEAT${tenants}`, type: 'percentage', percentage: '10' };
    await api.send('POST', '/billing/coupons', { body: coupon });
    await twice(`/billing/coupons/${coupon.code}/redeem`, { subscription_id: subscription.id });
    expect(await api.send('GET', `/billing/coupons/${coupon.code}`)).toMatchObject({ times_redeemed: 1 });
  });

  it('a usage event is voided once; another reason is a contradiction', async () => {
    const { id } = await api.use(subscription.tenant_id, 'api_calls', 5);
    const path = `/billing/meter/events/${id}/void`;
    await twice(path, { reason: 'test traffic' });
    expect((await api.refusal('POST', path, { body: { reason: 'another' } }))[1]).toBe('invalid_state');
  });
});

describe('of an invoice', () => {
  let draft: Invoice;
  beforeEach(async () => {
    draft = await api.draft(subscription);
  });

  it('finalize is repeated without an effect, also when it was paid meanwhile, and refused when it was voided', async () => {
    expect(await twice(on(draft, 'finalize'))).toMatchObject({ status: 'pending' });
    await api.send('POST', on(draft, 'pay'));
    expect(await twice(on(draft, 'finalize'))).toMatchObject({ status: 'paid' });
    const other = await api.draft(subscription);
    await api.send('POST', on(other, 'void'));
    expect((await api.refusal('POST', on(other, 'finalize')))[1]).toBe('invoice_finalized');
  });

  it('pay is repeated without an effect; another reference or time is a contradiction', async () => {
    const body = { payment_ref: 'transfer 7', paid_at: '2026-01-15T09:00:00.000Z' };
    expect(await twice(on(draft, 'pay'), body)).toMatchObject({ status: 'paid', payment_ref: 'transfer 7' });
    const { data } = await api.send('GET', `/billing/payments?invoice_id=${draft.id}`);
    expect(data).toHaveLength(1);
    for (const other of [{}, { payment_ref: 'transfer 8' }, { ...body, paid_at: '2026-01-15T08:00:00.000Z' }])
      expect((await api.refusal('POST', on(draft, 'pay'), { body: other }))[1]).toBe('invoice_paid');
  });

  it('pay without a reference is repeated without an effect', async () => {
    expect(await twice(on(draft, 'pay'))).toMatchObject({ status: 'paid', payment_ref: null });
  });

  it('pay by hand contradicts a payment by the provider', async () => {
    const method = await api.send('POST', '/billing/payment-methods', {
      body: { customer_id: draft.customer_id, token: 'tok_visa' },
    });
    await api.send('POST', '/billing/payments', {
      body: { invoice_id: draft.id, payment_method_id: method.id },
    });
    await expect.poll(async () => (await api.invoice(draft.id)).status).toBe('paid');
    expect((await api.refusal('POST', on(draft, 'pay')))[1]).toBe('invoice_paid');
  });

  it('void is repeated without an effect; another reason, or to bill again, is a contradiction', async () => {
    await api.finalize(draft);
    const body = { reason: 'mistake', rebill: true };
    expect(await twice(on(draft, 'void'), body)).toMatchObject({ status: 'voided' });
    expect((await api.draft(subscription)).total.amount).toBe(4_900);
    for (const other of [{ reason: 'mistake' }, { ...body, reason: 'another' }])
      expect((await api.refusal('POST', on(draft, 'void'), { body: other }))[1]).toBe('invoice_voided');
  });

  it('a payment is canceled once', async () => {
    const payment = await api.send('POST', '/billing/payments', { body: { invoice_id: draft.id } });
    expect(await twice(`/billing/payments/${payment.id}/cancel`)).toMatchObject({ status: 'canceled' });
  });
});
