import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Plan, Subscription } from '../../../../generated/billing/types.ts';
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

/** A hundred calls are free, each further one costs ten cents. */
const metered = (pricing: object = {}, feature: object = {}) => ({
  features: [{ key: 'calls', type: 'metered', ...feature }],
  pricing: {
    tiers: [
      { feature_key: 'calls', up_to: 100 },
      { feature_key: 'calls', up_to: -1, unit_amount_decimal: '10' },
    ],
    ...pricing,
  },
});
const own = (body?: object) => ({ tenant, body });
const act = (id: string, verb: string, body: object = {}) =>
  api.send('POST', `/billing/subscriptions/${id}/${verb}`, own(body));
const changeTo = ({ id }: Subscription, plan: Plan) => act(id, 'change-plan', { plan_id: plan.id });
const check = (feature_key: string) => api.send('POST', '/billing/entitlements/check', own({ feature_key }));

/** Ends a subscription and begins another one a minute later, as the tenant itself can. */
async function again({ id }: Subscription, plan: Plan): Promise<Subscription> {
  await act(id, 'cancel', { immediately: true });
  clock.turn(60_000);
  return await api.send('POST', '/billing/subscriptions', own({ tenant_id: tenant, plan_id: plan.id }));
}

/** The sum of all invoices of the tenant's subscriptions, once everything has been billed. */
async function billed(...subscriptions: Subscription[]): Promise<number> {
  for (const month of ['02', '03', '04']) {
    clock.turn(`2026-${month}-27T10:00:00Z`);
    await sweep();
    clock.turn(2 * 3_600_000);
    await sweep();
  }
  const invoices = await Promise.all(subscriptions.map((one) => api.invoices(one)));
  const open = invoices.flat().filter(({ status }) => status !== 'voided');
  return open.reduce((sum, { total }) => sum + total.amount, 0);
}

describe('a month of a tenant', () => {
  it('has its limit once, however often the tenant cancels and subscribes', async () => {
    const plan = await api.plan(metered({}, { limit: 100 }));
    let subscription = await api.subscribe(tenant, plan);
    clock.turn('2026-01-16T10:00:00Z');
    await api.use(tenant, 'calls', 100);
    const spent = { allowed: false, used: 100, remaining: 0, resets_at: '2026-02-15T10:00:00.000Z' };
    expect(await check('calls')).toMatchObject(spent);
    for (let count = 0; count < 3; count += 1) subscription = await again(subscription, plan);
    expect(await check('calls')).toMatchObject(spent);
    expect(await api.send('GET', `/billing/meter/usage/${subscription.id}/calls`)).toMatchObject({
      ...{ current_usage: 100, remaining: 0 },
      ...{ period_start: '2026-01-15T10:00:00.000Z', period_end: '2026-02-15T10:00:00.000Z' },
    });
    clock.turn('2026-02-15T10:00:00Z');
    expect(await check('calls')).toMatchObject({ allowed: true, used: 0 });
  });

  it('goes on when the tenant changes between monthly and yearly', async () => {
    const monthly = await api.plan(metered({}, { limit: 100 }));
    const yearly = await api.plan(metered({ billing_period: 'yearly' }, { limit: 100 }));
    const subscription = await api.subscribe(tenant, monthly);
    await api.use(tenant, 'calls', 60);
    clock.turn('2026-01-20T10:00:00Z');
    await changeTo(subscription, yearly);
    expect(await check('calls')).toMatchObject({ used: 60, resets_at: '2026-02-15T10:00:00.000Z' });
    clock.turn('2026-01-25T10:00:00Z');
    await changeTo(subscription, monthly);
    expect(await check('calls')).toMatchObject({ used: 60, resets_at: '2026-02-15T10:00:00.000Z' });
  });

  it('begins with what the tenant pays first, not with a trial that was canceled', async () => {
    const trial = await api.subscribe(tenant, await api.plan(metered()), { trial_days: 7 });
    clock.turn('2026-01-17T10:00:00Z');
    await again(trial, await api.plan(metered()));
    expect(await check('calls')).toMatchObject({ resets_at: '2026-02-17T10:01:00.000Z' });
  });

  it('begins with the next subscription a year after the last one', async () => {
    const plan = await api.plan(metered());
    const first = await api.subscribe(tenant, plan);
    clock.turn('2026-01-20T10:00:00Z');
    await act(first.id, 'cancel', { immediately: true });
    clock.turn('2027-03-03T10:00:00Z');
    await api.subscribe(tenant, plan);
    expect(await check('calls')).toMatchObject({ resets_at: '2027-04-03T10:00:00.000Z' });
  });
});

describe('what is free in a month is free once', () => {
  it('when the tenant changes between monthly and yearly', async () => {
    const monthly = await api.plan(metered());
    const yearly = await api.plan(metered({ billing_period: 'yearly' }));
    const subscription = await api.subscribe(tenant, monthly);
    for (const day of [16, 17, 18, 19, 20, 21]) {
      clock.turn(`2026-01-${day}T10:00:00Z`);
      await api.use(tenant, 'calls', 100);
      await changeTo(subscription, day % 2 === 0 ? yearly : monthly);
    }
    await act(subscription.id, 'cancel', { immediately: true });
    expect(await billed(subscription)).toBe(5_000);
  });

  it('when the tenant cancels and subscribes', async () => {
    const plan = await api.plan(metered());
    const all = [await api.subscribe(tenant, plan)];
    for (let count = 0; count < 4; count += 1) {
      await api.use(tenant, 'calls', 100);
      all.push(await again(all.at(-1)!, plan));
    }
    await api.use(tenant, 'calls', 200);
    await act(all.at(-1)!.id, 'cancel', { immediately: true });
    expect(await billed(...all)).toBe(5_000);
  });

  it('over several plans', async () => {
    const subscription = await api.subscribe(tenant, await api.plan(metered()));
    for (const day of [16, 17]) {
      clock.turn(`2026-01-${day}T10:00:00Z`);
      await api.use(tenant, 'calls', 100);
      await changeTo(subscription, await api.plan(metered()));
    }
    await api.use(tenant, 'calls', 100);
    clock.turn('2026-02-15T10:00:00Z');
    await sweep();
    const [invoice] = await api.invoices(subscription);
    expect(invoice!.line_items.map(({ description, amount }) => [description, amount.amount])).toEqual([
      ['calls', 0],
      ['calls (101 – 200)', 1_000],
      ['calls (201 – 300)', 1_000],
    ]);
  });

  it('and again in the next month, also within one billing period', async () => {
    const plan = await api.plan(metered());
    const first = await api.subscribe(tenant, plan);
    clock.turn('2026-01-25T10:00:00Z');
    await api.use(tenant, 'calls', 80);
    const second = await again(first, plan);
    await api.use(tenant, 'calls', 30);
    clock.turn('2026-02-20T10:00:00Z');
    await api.use(tenant, 'calls', 110);
    clock.turn('2026-02-25T11:00:00Z');
    await sweep();
    const [invoice] = await api.invoices(second);
    expect(
      invoice!.line_items.map(({ description, amount, period_start }) => [
        description,
        amount.amount,
        period_start,
      ]),
    ).toEqual([
      ['calls (81 – 100)', 0, '2026-01-25T10:01:00.000Z'],
      ['calls (101 – 110)', 100, '2026-01-25T10:01:00.000Z'],
      ['calls (1 – 100)', 0, '2026-02-15T10:00:00.000Z'],
      ['calls (101 – 110)', 100, '2026-02-15T10:00:00.000Z'],
    ]);
  });

  it('and what is used late under an earlier subscription moves the later units up', async () => {
    const plan = await api.plan(metered());
    const first = await api.subscribe(tenant, plan);
    clock.turn('2026-01-20T10:00:00Z');
    await api.use(tenant, 'calls', 40);
    const second = await again(first, plan);
    await api.use(tenant, 'calls', 60);
    clock.turn('2026-01-21T10:00:00Z');
    await act(second.id, 'cancel', { immediately: true });
    clock.turn('2026-01-21T12:00:00Z');
    await sweep();
    await api.use(tenant, 'calls', 50, { timestamp: '2026-01-18T10:00:00Z' });
    expect(await billed(first, second)).toBe(500);
  });
});

describe('seats', () => {
  const priced = (pricing: object = {}, limit = -1) => ({
    features: [{ key: 'seats', type: 'seat', limit }],
    pricing: {
      base_amount: usd(10_000),
      tiers: [{ feature_key: 'seats', up_to: -1, unit_amount_decimal: '1000' }],
      ...pricing,
    },
  });
  const lines = async (subscription: Subscription) =>
    (await api.invoices(subscription)).map(({ line_items }) =>
      line_items.map(({ description, amount }) => `${description}: ${amount.display}`),
    );

  it('at the same price cost the same when the plan changes', async () => {
    const subscription = await api.subscribe(tenant, await api.plan(priced()));
    await api.use(tenant, 'seats', 20);
    clock.turn('2026-01-30T22:00:00Z');
    await changeTo(subscription, await api.plan({ name: 'Business', ...priced() }));
    clock.turn('2026-02-15T10:00:00Z');
    await sweep();
    expect(await lines(subscription)).toEqual([
      [
        'Pro (2026-01-15 – 2026-01-30): $50.00',
        'seats (1 – 20), 2026-01-15 – 2026-01-30: $100.00',
        'Business (2026-01-30 – 2026-02-15): $50.00',
        'seats (1 – 20), 2026-01-30 – 2026-02-15: $100.00',
      ],
    ]);
  });

  it('cost what the base price does of a period that is canceled', async () => {
    const subscription = await api.subscribe(tenant, await api.plan(priced()));
    await api.use(tenant, 'seats', 20);
    clock.turn('2026-01-18T10:00:00Z');
    await act(subscription.id, 'cancel', { immediately: true });
    expect(await lines(subscription)).toEqual([
      ['Pro (2026-01-15 – 2026-01-18): $9.68', 'seats (1 – 20), 2026-01-15 – 2026-01-18: $19.35'],
    ]);
  });

  it('cost nothing for the moment before a change to yearly', async () => {
    const monthly = await api.subscribe(tenant, await api.plan(priced()));
    await api.use(tenant, 'seats', 20);
    await changeTo(monthly, await api.plan(priced({ billing_period: 'yearly' })));
    expect(await lines(monthly)).toEqual([]);
  });

  it('are held on in the next subscription, so that it is no way round the limit of a plan', async () => {
    const large = await api.subscribe(tenant, await api.plan(priced()));
    const small = await api.plan(priced({ base_amount: usd(100) }, 5));
    await api.use(tenant, 'seats', 17);
    const refused = (path: string, body: object) => api.refusal('POST', path, own(body));
    expect(await refused(`/billing/subscriptions/${large.id}/change-plan`, { plan_id: small.id })).toEqual([
      ...[400, 'invalid_downgrade', 'more is in use than the plan allows'],
    ]);
    clock.turn('2026-01-16T10:00:00Z');
    await act(large.id, 'cancel', { immediately: true });
    clock.turn('2026-01-16T10:01:00Z');
    expect(await refused('/billing/subscriptions', { tenant_id: tenant, plan_id: small.id })).toEqual([
      ...[400, 'invalid_input', 'plan_id: more is in use than the plan allows'],
    ]);
    // The operator decides otherwise; the seats are known and paid all the same.
    const second = await api.subscribe(tenant, small);
    expect(await check('seats')).toMatchObject({ allowed: false, used: 17, limit: 5 });
    clock.turn('2026-02-16T10:01:00Z');
    await sweep();
    expect(await lines(second)).toEqual([['Pro: $1.00', 'seats: $170.00']]);
  });
});

describe('a trial under another plan', () => {
  it('ends at once when that plan has none', async () => {
    const subscription = await api.subscribe(tenant, await api.plan({ trial_days: 30 }));
    clock.turn('2026-01-20T10:00:00Z');
    await api.use(tenant, 'api_calls', 20_000);
    expect(await changeTo(subscription, await api.plan({ trial_days: 0 }))).toMatchObject({
      status: 'active',
      trial_end: '2026-01-20T10:00:00.000Z',
      current_period_start: '2026-01-20T10:00:00.000Z',
      current_period_end: '2026-02-20T10:00:00.000Z',
    });
    expect(await check('api_calls')).toMatchObject({ used: 0, resets_at: '2026-02-20T10:00:00.000Z' });
    clock.turn('2026-02-20T10:00:00Z');
    await sweep();
    expect((await api.invoices(subscription)).map(({ total }) => total.amount)).toEqual([4_900]);
  });

  it('has the days of that plan, counted from its start, and never more than it had', async () => {
    const [month, week] = [await api.plan({ trial_days: 30 }), await api.plan({ trial_days: 7 })];
    const subscription = await api.subscribe(tenant, month);
    clock.turn('2026-01-18T10:00:00Z');
    const shorter = { status: 'trialing', trial_end: '2026-01-22T10:00:00.000Z' };
    expect(await changeTo(subscription, week)).toMatchObject({
      ...shorter,
      current_period_end: '2026-01-22T10:00:00.000Z',
    });
    expect(await changeTo(subscription, month)).toMatchObject(shorter);
    clock.turn('2026-01-22T10:00:00Z');
    await sweep();
    expect(await api.subscription(subscription.id)).toMatchObject({
      status: 'active',
      current_period_start: '2026-01-22T10:00:00.000Z',
    });
  });

  it('that the operator has granted goes on', async () => {
    const subscription = await api.subscribe(tenant, await api.plan(), { trial_days: 30 });
    clock.turn('2026-01-20T10:00:00Z');
    expect(await changeTo(subscription, await api.plan())).toMatchObject({
      status: 'trialing',
      trial_end: '2026-02-14T10:00:00.000Z',
    });
  });
});
