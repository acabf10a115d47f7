import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Plan } from '../../../../generated/billing/types.ts';
import type { TestServer } from '../../../testing/server.ts';
import { storedSubscription } from '../testing/stored-subscription.ts';
import { serverBy, TestClock, tools } from '../testing.ts';
import { planStore } from './plans.store.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await serverBy(new TestClock('2026-01-10T09:00:00Z'));
  api = tools(server);
});
afterAll(() => server.close());

let count = 0;
const newTenant = () => `tenant-${++count}`;
const plan = async (more: object = {}): Promise<Plan> =>
  (await api.send('POST', '/billing/plans', {
    body: { name: `Plan ${++count}`, currency: 'usd', ...more },
  })) as Plan;
const inUse = [400, 'plan_in_use', 'plan has live subscriptions: archive it instead'];
const notFound = [404, 'plan_not_found', 'plan not found'];

describe('delete', () => {
  it('lets a plan vanish and frees its slug', async () => {
    const { id } = await plan({ slug: 'gone' });
    await api.send('DELETE', '/billing/plans/gone');
    for (const ref of [id, 'gone'])
      expect(await api.refusal('GET', `/billing/plans/${ref}`)).toEqual(notFound);
    expect(await api.refusal('DELETE', `/billing/plans/${id}`)).toEqual(notFound);
    expect((await api.send('GET', '/billing/plans')).data.map((one: Plan) => one.id)).not.toContain(id);
    const next = await plan({ slug: 'gone' });
    expect(await api.send('GET', '/billing/plans/gone')).toEqual(next);
  });

  it.each(['trialing', 'active', 'past_due', 'paused'] as const)(
    'is refused with a subscription that is %s',
    async (status) => {
      const { id: plan_id } = await plan();
      await storedSubscription(server.db.sql, { tenant_id: newTenant(), plan_id, status });
      expect(await api.refusal('DELETE', `/billing/plans/${plan_id}`)).toEqual(inUse);
      expect(await api.send('GET', `/billing/plans/${plan_id}`)).toMatchObject({ id: plan_id });
    },
  );

  it.each(['canceled', 'expired'] as const)('keeps what a subscription needs that is %s', async (status) => {
    const { id: plan_id } = await plan();
    await storedSubscription(server.db.sql, { tenant_id: newTenant(), plan_id, status });
    await api.send('DELETE', `/billing/plans/${plan_id}`);
    const kept = await server.db.sql`select from billing.plan_revision where plan_id = ${plan_id}`;
    expect(kept).toHaveLength(1);
  });

  it('never leaves a live subscription without its plan, whoever comes first', async () => {
    const rounds = Array.from({ length: 12 }, async () => {
      const { id: plan_id } = await plan();
      const tenant_id = newTenant();
      const subscribing = server.db.transaction(async (sql) => {
        const held = await planStore(sql).lockForSubscription('default', plan_id);
        if (held !== undefined) await storedSubscription(sql, { tenant_id, plan_id });
        return held !== undefined;
      });
      const [isSubscribed, { status }] = await Promise.all([
        subscribing,
        server.request('DELETE', `/billing/billing/plans/${plan_id}`),
      ]);
      return [isSubscribed, status];
    });
    for (const [isSubscribed, status] of await Promise.all(rounds))
      expect(status).toBe(isSubscribed ? 400 : 204);
  });
});

describe('a plan that is about to be subscribed to', () => {
  it('can be held by several, and shows what a subscription needs', async () => {
    const { id } = await plan({ name: 'Held', slug: 'held', trial_days: 7 });
    await server.db.transaction(async (sql) => {
      expect(await planStore(sql).lockForSubscription('default', id)).toEqual({
        ...{ id, slug: 'held', name: 'Held', status: 'active', currency: 'usd', revision: 1, trial_days: 7 },
        trial_requires_payment_method: false,
      });
      expect(await planStore(sql).lockForSubscription('other', id)).toBeUndefined();
    });
  });
});
