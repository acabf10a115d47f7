import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TestServer } from '../../../testing/server.ts';
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

const priced = (amount: number, more: object = {}) => ({ pricing: { base_amount: usd(amount), ...more } });
const act = (id: string, verb: string, body?: object) =>
  api.send('POST', `/billing/subscriptions/${id}/${verb}`, body === undefined ? {} : { body });
const refused = (id: string, verb: string, body: object = {}) =>
  api.refusal('POST', `/billing/subscriptions/${id}/${verb}`, { body });

describe('change-plan', () => {
  it('prorates both base prices, to the millisecond', async () => {
    const subscription = await api.subscribe(tenant, await api.plan(priced(4900)));
    const dearer = await api.plan({ name: 'Business', ...priced(9900) });
    clock.turn('2026-01-25T16:00:00Z');
    expect(await act(subscription.id, 'change-plan', { plan_id: dearer.id })).toMatchObject({
      plan_id: dearer.id,
      current_period_start: '2026-01-15T10:00:00.000Z',
      current_period_end: '2026-02-15T10:00:00.000Z',
    });
    clock.turn('2026-02-15T10:00:00Z');
    await sweep();
    const [invoice] = await api.invoices(subscription);
    expect(invoice!.line_items.map(({ description, amount }) => [description, amount.amount])).toEqual([
      ['Pro (2026-01-15 – 2026-01-25)', 1620],
      ['Business (2026-01-25 – 2026-02-15)', 6627],
    ]);
  });

  it('without proration keeps the old base price until the end of the period', async () => {
    const subscription = await api.subscribe(tenant, await api.plan(priced(9900)));
    const cheaper = await api.plan(priced(4900));
    clock.turn('2026-01-25T16:00:00Z');
    await act(subscription.id, 'change-plan', { plan_id: cheaper.id, prorate: false });
    clock.turn('2026-02-15T10:00:00Z');
    await sweep();
    clock.turn('2026-02-15T11:00:00Z');
    await sweep();
    clock.turn('2026-03-15T10:00:00Z');
    await sweep();
    expect((await api.invoices(subscription)).map(({ total }) => total.amount)).toEqual([9900, 4900]);
  });

  it('to another billing period ends the running one, and invoices it', async () => {
    const subscription = await api.subscribe(tenant, await api.plan(priced(3100)));
    const yearly = await api.plan(priced(99_000, { billing_period: 'yearly' }));
    clock.turn('2026-01-25T10:00:00Z');
    expect(await act(subscription.id, 'change-plan', { plan_id: yearly.id })).toMatchObject({
      current_period_start: '2026-01-25T10:00:00.000Z',
      current_period_end: '2027-01-25T10:00:00.000Z',
    });
    const [invoice] = await api.invoices(subscription);
    expect(invoice).toMatchObject({ total: { amount: 1000 }, period_end: '2026-01-25T10:00:00.000Z' });
  });

  it('is refused with a reason', async () => {
    const subscription = await api.subscribe(tenant, await api.plan(priced(4900)));
    const small = await api.plan({
      ...priced(100),
      features: [{ key: 'seats', type: 'seat', limit: 1 }],
    });
    const [draft, euros] = [
      await api.plan({ ...priced(9900), status: 'draft' }),
      await api.plan({ currency: 'eur', pricing: null }),
    ];
    await api.use(tenant, 'seats', 3);
    const change = async (plan_id: string) => {
      const { status, body } = await server.request(
        'POST',
        `/billing/billing/subscriptions/${subscription.id}/change-plan`,
        { body: { plan_id } },
      );
      return [status, body.error.code, body.error.details?.reason];
    };
    expect(await change(draft.id)).toEqual([400, 'invalid_upgrade', 'plan_not_active']);
    expect(await change(euros.id)).toEqual([400, 'invalid_downgrade', 'currency_mismatch']);
    expect(await change(small.id)).toEqual([400, 'invalid_downgrade', 'usage_over_limit']);
    expect(await change('plan_01kekj4hm0ez2s1gqhd4r2btjz')).toEqual([404, 'plan_not_found', undefined]);
    await act(subscription.id, 'cancel', { immediately: true });
    expect(await change(small.id)).toEqual([400, 'invalid_downgrade', 'subscription_not_active']);
  });
});

describe('pause', () => {
  it('counts nothing and bills nothing; within the period, the period goes on', async () => {
    const subscription = await api.subscribe(tenant, await api.plan(priced(3100)));
    clock.turn('2026-01-25T10:00:00Z');
    expect(await act(subscription.id, 'pause')).toMatchObject({ status: 'paused' });
    expect(await refused(subscription.id, 'pause', { resume_at: '2026-02-01T10:00:00Z' })).toEqual([
      ...[400, 'invalid_state', 'subscription is paused'],
    ]);
    clock.turn('2026-01-26T10:00:00Z');
    const { id } = await api.use(tenant, 'seats', 1);
    expect((await api.send('GET', `/billing/meter/events/${id}`)).status).toBe('buffered');
    clock.turn('2026-02-04T10:00:00Z');
    expect(await act(subscription.id, 'resume')).toMatchObject({
      status: 'active',
      current_period_end: '2026-02-15T10:00:00.000Z',
    });
    clock.turn('2026-02-15T10:00:00Z');
    await sweep();
    // 31 days at a dollar each, less 10.
    expect((await api.invoices(subscription)).map(({ total }) => total.amount)).toEqual([2100]);
  });

  it('ends by itself; after the period, a new one begins', async () => {
    const subscription = await api.subscribe(tenant, await api.plan(priced(3100)));
    clock.turn('2026-01-25T10:00:00Z');
    await act(subscription.id, 'pause', { resume_at: '2026-03-01T08:00:00Z' });
    clock.turn('2026-03-01T09:00:00Z');
    await sweep();
    expect(await api.subscription(subscription.id)).toMatchObject({
      status: 'active',
      resume_at: null,
      current_period_start: '2026-03-01T08:00:00.000Z',
      current_period_end: '2026-04-01T08:00:00.000Z',
    });
    expect((await api.invoices(subscription)).map(({ total }) => total.amount)).toEqual([1000]);
  });

  it('ends in the future, within a year', async () => {
    const { id } = await api.subscribe(tenant, await api.plan());
    expect(await refused(id, 'pause', { resume_at: '2026-01-15T10:00:00Z' })).toEqual([
      ...[400, 'invalid_input', 'resume_at: must be in the future'],
    ]);
    expect((await refused(id, 'pause', { resume_at: '2027-02-01T00:00:00Z' }))[0]).toBe(400);
  });
});

describe('cancel', () => {
  it('at the end of the period; what comes afterwards is not counted, even if the end is noticed late', async () => {
    const subscription = await api.subscribe(tenant, await api.plan(priced(4900)));
    const canceled = { id: subscription.id, status: 'active', cancel_at: '2026-02-15T10:00:00.000Z' };
    expect(await act(subscription.id, 'cancel')).toEqual(canceled);
    expect(await act(subscription.id, 'cancel', { immediately: false })).toEqual(canceled);
    clock.turn('2026-02-20T10:00:00Z');
    const { id } = await api.use(tenant, 'api_calls', 5);
    expect((await api.send('GET', `/billing/meter/events/${id}`)).status).toBe('buffered');
    await sweep();
    expect(await api.subscription(subscription.id)).toMatchObject({
      status: 'canceled',
      canceled_at: '2026-02-15T10:00:00.000Z',
      ended_at: '2026-02-15T10:00:00.000Z',
    });
    expect((await api.invoices(subscription)).map(({ origin, total }) => [origin, total.amount])).toEqual([
      ['cancellation', 4900],
    ]);
    expect(await refused(subscription.id, 'cancel')).toEqual([
      ...[400, 'subscription_canceled', 'subscription has ended'],
    ]);
  });

  it('can be withdrawn until then', async () => {
    const { id } = await api.subscribe(tenant, await api.plan(priced(4900)));
    await act(id, 'cancel');
    expect(await act(id, 'uncancel')).toMatchObject({ status: 'active', cancel_at: null });
    clock.turn('2026-02-20T10:00:00Z');
    await sweep();
    expect(await api.subscription(id)).toMatchObject({
      status: 'active',
      current_period_start: '2026-02-15T10:00:00.000Z',
    });
  });

  it('at once owes the time used, and late usage is billed once more', async () => {
    const subscription = await api.subscribe(
      tenant,
      await api.plan(
        priced(3100, { tiers: [{ feature_key: 'api_calls', up_to: -1, unit_amount: usd(10) }] }),
      ),
    );
    clock.turn('2026-01-25T10:00:00Z');
    expect(await act(subscription.id, 'cancel', { immediately: true })).toMatchObject({ status: 'canceled' });
    clock.turn('2026-01-25T11:00:00Z');
    await sweep();
    await api.use(tenant, 'api_calls', 3, { timestamp: '2026-01-20T00:00:00Z' });
    clock.turn('2026-03-01T11:00:00Z');
    await sweep();
    clock.turn('2026-03-01T13:00:00Z');
    await sweep();
    expect((await api.invoices(subscription)).map(({ status, total }) => [status, total.amount])).toEqual([
      ['past_due', 1000],
      ['pending', 30],
    ]);
    const again = await api.subscribe(tenant, await api.plan());
    expect(again.status).toBe('active');
  });
});
