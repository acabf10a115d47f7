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
  tenant = `choosing-${(tenants += 1)}`;
  clock.turn('2026-01-15T10:00:00Z');
});
afterAll(() => server.close());

const priced = (amount: number) => ({ pricing: { base_amount: usd(amount) } });
/** Asks with the tenant's own credential. */
const asked = (subscription: Pick<Subscription, 'id'>, verb: string, body: object = {}) =>
  api.refusal('POST', `/billing/subscriptions/${subscription.id}/${verb}`, { tenant, body });
/** Asks as the operator. */
const act = (subscription: Pick<Subscription, 'id'>, verb: string, body: object = {}) =>
  api.send('POST', `/billing/subscriptions/${subscription.id}/${verb}`, { body });
const totals = async (subscription: Subscription) =>
  (await api.invoices(subscription)).map(({ total }) => total.amount);

describe('a tenant does not choose its price', () => {
  it('by leaving a change of its plan unprorated', async () => {
    const [cheap, dear] = [await api.plan(priced(1_000)), await api.plan(priced(100_000))];
    const subscription = await api.subscribe(tenant, cheap);
    expect(await asked(subscription, 'change-plan', { plan_id: dear.id, prorate: false })).toEqual([
      ...[403, 'forbidden', 'prorate: only the operator leaves the base amount as it is'],
    ]);
    expect((await asked(subscription, 'change-plan', { plan_id: dear.id }))[0]).toBe(200);
    clock.turn('2026-02-15T09:00:00Z');
    expect((await asked(subscription, 'change-plan', { plan_id: cheap.id }))[0]).toBe(200);
    clock.turn('2026-02-15T10:00:00Z');
    await sweep();
    // 743 of the 744 hours at 1,000 dollars, and one at 10.
    expect(await totals(subscription)).toEqual([99_867]);
  });

  it('by pausing for the hours in which it uses nothing', async () => {
    const subscription = await api.subscribe(tenant, await api.plan(priced(30_000)));
    expect((await asked(subscription, 'pause')).slice(0, 2)).toEqual([403, 'forbidden']);
    await act(subscription, 'pause');
    expect((await asked(subscription, 'resume')).slice(0, 2)).toEqual([403, 'forbidden']);
    expect((await api.subscription(subscription.id)).status).toBe('paused');
  });

  it('by a trial, an earlier start or negative usage', async () => {
    const plan = await api.plan(priced(1_000));
    const subscribe = (body: object) =>
      api.refusal('POST', '/billing/subscriptions', {
        ...{ tenant, body: { tenant_id: tenant, plan_id: plan.id, ...body } },
      });
    expect((await subscribe({ trial_days: 1 }))[0]).toBe(403);
    expect((await subscribe({ starts_at: '2026-01-10T00:00:00Z' }))[0]).toBe(403);
    expect((await subscribe({}))[0]).toBe(201);
    const body = { feature_key: 'api_calls', quantity: -1 };
    expect((await api.refusal('POST', '/billing/meter/events', { tenant, body }))[0]).toBe(403);
  });
});

describe('what the operator leaves unprorated', () => {
  const changeAt = '2026-01-25T10:00:00Z';
  const changed = async (from: Plan, to: Plan) => {
    const subscription = await api.subscribe(tenant, from);
    clock.turn(changeAt);
    await act(subscription, 'change-plan', { plan_id: to.id, prorate: false });
    clock.turn('2026-02-15T10:00:00Z');
    await sweep();
    return await totals(subscription);
  };

  it('bills an upgrade for the time for which it was used, also from a free plan', async () => {
    const dear = await api.plan(priced(31_000));
    // 21 of 31 days.
    expect(await changed(await api.plan({ pricing: null }), dear)).toEqual([21_000]);
    tenant = `${tenant}-paying`;
    clock.turn('2026-01-15T10:00:00Z');
    expect(await changed(await api.plan(priced(3_100)), dear)).toEqual([22_000]);
  });

  it('gives nothing back for a downgrade', async () => {
    expect(await changed(await api.plan(priced(31_000)), await api.plan(priced(3_100)))).toEqual([31_000]);
  });
});

describe('a plan that is a draft', () => {
  it('is neither listed, found nor subscribed to by a tenant, and the operator sees it', async () => {
    const hidden = await api.plan({ ...priced(500), status: 'draft' });
    const offered = await api.plan(priced(500));
    const listed = async (query: string, options: object) => {
      const { data, pagination } = await api.send('GET', `/billing/plans?limit=100${query}`, options);
      const ids = (data as Plan[]).map(({ id }) => id);
      return [ids.includes(hidden.id), ids.includes(offered.id), pagination.total === ids.length];
    };
    expect(await listed('', { tenant })).toEqual([false, true, true]);
    expect(await listed('&status=draft', { tenant })).toEqual([false, false, true]);
    expect(await listed('', {})).toEqual([true, true, true]);
    const missing = [404, 'plan_not_found', 'plan not found'];
    for (const ref of [hidden.id, hidden.slug])
      expect(await api.refusal('GET', `/billing/plans/${ref}`, { tenant })).toEqual(missing);
    const body = { tenant_id: tenant, plan_id: hidden.id };
    expect(await api.refusal('POST', '/billing/subscriptions', { tenant, body })).toEqual(missing);
    const subscription = await api.subscribe(tenant, offered);
    expect(await asked(subscription, 'change-plan', { plan_id: hidden.id })).toEqual(missing);
    expect((await api.send('GET', `/billing/plans/${hidden.slug}`)).id).toBe(hidden.id);
  });
});
