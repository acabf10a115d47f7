import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
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
  // Keeps the events in the outbox, as a consumer that has not had them would.
  await server.db.sql`insert into plinth.relay_positions (service, consumer) values ('billing', 'test')`;
});
beforeEach(() => {
  tenant = `tenant-${(tenants += 1)}`;
  clock.turn('2026-01-15T10:00:00Z');
});
afterAll(() => server.close());

const eventsOf = async (id: string) => {
  const rows = await server.db.sql<{ type: string }[]>`
    select type from billing.outbox where subject = ${id} order by id`;
  return rows.map(({ type }) => type.replace('billing.subscription.', ''));
};

it('a trial counts for limits, costs nothing, and becomes a paid period', async () => {
  const plan = await api.plan({ trial_days: 14 });
  const subscription = await api.subscribe(tenant, plan);
  expect(subscription).toMatchObject({
    status: 'trialing',
    trial_start: '2026-01-15T10:00:00.000Z',
    trial_end: '2026-01-29T10:00:00.000Z',
    current_period_end: '2026-01-29T10:00:00.000Z',
  });
  await api.use(tenant, 'api_calls', 20_000);
  await api.use(tenant, 'seats', 20);
  const check = await api.send('POST', '/billing/entitlements/check', {
    body: { tenant_id: tenant, feature_key: 'seats' },
  });
  expect(check).toMatchObject({ allowed: false, used: 20 });
  clock.turn('2026-01-26T10:00:00Z');
  await sweep();
  clock.turn('2026-01-29T10:00:00Z');
  await sweep();
  expect(await api.subscription(subscription.id)).toMatchObject({
    status: 'active',
    current_period_start: '2026-01-29T10:00:00.000Z',
    current_period_end: '2026-02-28T10:00:00.000Z',
  });
  expect(await eventsOf(subscription.id)).toEqual(['created', 'trial_ending', 'activated']);
  clock.turn('2026-02-28T10:00:00Z');
  await sweep();
  expect((await api.invoices(subscription)).map(({ total }) => total.amount)).toEqual([4900]);
});

describe('a plan that demands a payment method', () => {
  const demanding = { trial_days: 14, trial_requires_payment_method: true };

  it('lets a trial without one expire; what was used until that was noticed costs nothing', async () => {
    const subscription = await api.subscribe(tenant, await api.plan(demanding));
    clock.turn('2026-01-29T12:00:00Z');
    await api.use(tenant, 'api_calls', 50_000);
    await sweep();
    expect(await api.subscription(subscription.id)).toMatchObject({
      status: 'expired',
      canceled_at: null,
      ended_at: '2026-01-29T12:00:00.000Z',
    });
    expect(await api.invoices(subscription)).toEqual([]);
  });

  it('goes on with one', async () => {
    const customer = await api.customer(tenant);
    await api.send('POST', '/billing/payment-methods', {
      body: { customer_id: customer.id, token: 'tok_visa' },
    });
    const { id } = await api.subscribe(tenant, await api.plan(demanding));
    clock.turn('2026-01-29T12:00:00Z');
    await sweep();
    expect((await api.subscription(id)).status).toBe('active');
  });
});

it('a trial that is canceled ends with it and costs nothing', async () => {
  const subscription = await api.subscribe(tenant, await api.plan({ trial_days: 14 }));
  const canceled = await api.send('POST', `/billing/subscriptions/${subscription.id}/cancel`);
  expect(canceled.cancel_at).toBe('2026-01-29T10:00:00.000Z');
  clock.turn('2026-02-01T10:00:00Z');
  await sweep();
  expect((await api.subscription(subscription.id)).status).toBe('canceled');
  expect(await api.invoices(subscription)).toEqual([]);
});

it('a tenant has one trial in an app, unless the operator says otherwise', async () => {
  const [first, second] = [await api.plan({ trial_days: 14 }), await api.plan({ trial_days: 7 })];
  const subscribe = (body: object) =>
    server.request('POST', '/billing/billing/subscriptions', {
      tenant,
      body: { tenant_id: tenant, ...body },
    });
  const cancel = (id: string) =>
    api.send('POST', `/billing/subscriptions/${id}/cancel`, { body: { immediately: true } });
  const { body: trial } = await subscribe({ plan_id: first.id });
  expect(trial.status).toBe('trialing');
  clock.turn('2026-01-16T10:00:00Z');
  await cancel(trial.id);
  clock.turn('2026-01-16T10:01:00Z');
  for (const [field, wish] of [
    ['status', { status: 'trialing' }],
    ['trial_days', { trial_days: 1 }],
  ] as const) {
    const { status, body } = await subscribe({ plan_id: second.id, ...wish });
    expect([status, body.error.message]).toEqual([
      ...[403, `${field}: the tenant has had its trial, and only the operator grants another`],
    ]);
  }
  const { body: paid } = await subscribe({ plan_id: second.id });
  expect(paid).toMatchObject({ status: 'active', trial_start: null, trial_end: null });
  clock.turn('2026-01-17T10:00:00Z');
  await cancel(paid.id);
  clock.turn('2026-01-17T10:01:00Z');
  expect((await api.subscribe(tenant, second, { status: 'trialing' })).status).toBe('trialing');
});

describe('a subscription begins', () => {
  const create = (body: object, options: object = {}) =>
    api.refusal('POST', '/billing/subscriptions', { body: { tenant_id: tenant, ...body }, ...options });

  it('with the trial that is asked for, which only the operator prolongs', async () => {
    const { id: plan_id } = await api.plan({ trial_days: 7 });
    expect(await create({ plan_id, trial_days: 8 }, { tenant })).toEqual([
      ...[403, 'forbidden', 'trial_days: only the operator grants more than the 7 of the plan'],
    ]);
    expect((await create({ plan_id, status: 'trialing', trial_days: 0 }))[2]).toBe(
      'status: a trial needs trial_days',
    );
    const subscription = await api.subscribe(tenant, { id: plan_id }, { status: 'active' });
    expect(subscription).toMatchObject({ status: 'active', trial_end: null });
  });

  it('on an active plan only, in the currency of the customer', async () => {
    const [draft, archived] = [await api.plan({ status: 'draft' }), await api.plan({ status: 'archived' })];
    expect(await create({ plan_id: draft.id })).toEqual([400, 'invalid_input', 'plan_id: plan is a draft']);
    expect((await create({ plan_id: archived.id }))[1]).toBe('plan_archived');
    expect((await create({ plan_id: 'plan_01kekj4hm0ez2s1gqhd4r2btjz' }))[1]).toBe('plan_not_found');
    const euros = await api.customer(tenant, { currency: 'eur' });
    const { id: plan_id } = await api.plan();
    expect((await create({ plan_id, customer_id: euros.id }))[2]).toMatch(/^customer_id: is billed in eur/);
    expect((await create({ plan_id, customer_id: 'cus_01kf0h8v90fkrvgzcvdpyndt3q' }))[1]).toBe(
      'customer_not_found',
    );
  });

  it('in the past for the operator only, and not over another one', async () => {
    const { id: plan_id } = await api.plan();
    expect((await create({ plan_id, starts_at: '2026-01-01T00:00:00Z' }, { tenant }))[0]).toBe(403);
    expect((await create({ plan_id, starts_at: '2026-01-16T00:00:00Z' }))[2]).toBe(
      'starts_at: must not be in the future',
    );
    expect((await create({ plan_id, starts_at: '2025-01-01T00:00:00Z' }))[2]).toMatch(
      /at most 366 days ago$/,
    );
    const { id } = await api.subscribe(tenant, { id: plan_id });
    expect((await create({ plan_id }))[1]).toBe('subscription_exists');
    await api.send('POST', `/billing/subscriptions/${id}/cancel`, { body: { immediately: true } });
    expect((await create({ plan_id, starts_at: '2026-01-15T09:59:00Z' }))[2]).toMatch(
      /^starts_at: the tenant had another/,
    );
  });

  it('for another tenant if the operator asks', async () => {
    const { id: plan_id } = await api.plan();
    expect((await create({ plan_id }, { tenant: 'other' }))[0]).toBe(403);
  });
});
