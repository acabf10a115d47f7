import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { TestServer } from '../../../testing/server.ts';
import { serverBy, TestClock, tools } from '../testing.ts';
import { sweeping } from '../testing/sweeping.ts';

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

const post = (path: string, body: object = {}) => api.insist('POST', path, { body });
const times = <T>(count: number, act: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => act(index)));

it('of 500 subscriptions of a tenant at once, one begins', async () => {
  const { id: plan_id } = await api.plan();
  const answers = await times(500, () => post('/billing/subscriptions', { tenant_id: tenant, plan_id }));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
  expect(new Set(answers.filter(({ status }) => status !== 201).map(({ body }) => body.error.code))).toEqual(
    new Set(['subscription_exists']),
  );
});

it('events that enter while the subscription starts, changes and renews are counted once, in one segment each', async () => {
  const [first, second] = [await api.plan(), await api.plan()];
  const sweep = sweeping(server, clock);
  const send = () =>
    times(40, (index) =>
      api.use(tenant, 'api_calls', 1, { idempotency_key: `${clock.now()}-${index}-${Math.random()}` }),
    );
  const early = send();
  const subscription = await api.subscribe(tenant, first);
  await early;
  for (const plan of [second, first, second]) {
    clock.turn(3_600_000);
    await Promise.all([
      send(),
      post(`/billing/subscriptions/${subscription.id}/change-plan`, { plan_id: plan.id }),
    ]);
  }
  clock.turn('2026-02-15T10:00:00Z');
  await Promise.all([send(), sweep()]);
  await sweep();
  const [sums] = await server.db.sql<[{ events: number; counted: number; days: number; waiting: number }]>`
    select
      (select count(*)::integer from billing.usage_event where tenant_id = ${tenant}) as events,
      (select sum(quantity)::integer from billing.usage_total where tenant_id = ${tenant}) as counted,
      (select sum(quantity)::integer from billing.usage_day where tenant_id = ${tenant}) as days,
      (select count(*)::integer from billing.usage_event where tenant_id = ${tenant} and status = 'buffered') as waiting`;
  expect(sums).toEqual({ events: 200, counted: 200, days: 200, waiting: 0 });
  const segments = await server.db.sql<{ starts_at: string; ends_at: string }[]>`
    select starts_at, ends_at from billing.segment where tenant_id = ${tenant} order by starts_at`;
  for (const [index, { starts_at }] of segments.entries())
    if (index > 0) expect(starts_at).toBe(segments[index - 1]!.ends_at);
});

it('changes of a subscription at once leave one state, and each is answered', async () => {
  const plans = [await api.plan(), await api.plan(), await api.plan()];
  const { id } = await api.subscribe(tenant, plans[0]!);
  const answers = await times(60, (index) => {
    const acts = [
      () => post(`/billing/subscriptions/${id}/pause`),
      () => post(`/billing/subscriptions/${id}/resume`),
      () => post(`/billing/subscriptions/${id}/cancel`),
      () => post(`/billing/subscriptions/${id}/uncancel`),
      () => post(`/billing/subscriptions/${id}/change-plan`, { plan_id: plans[index % 3]!.id }),
    ];
    return acts[index % acts.length]!();
  });
  expect(answers.filter(({ status }) => status !== 200 && status !== 400)).toEqual([]);
  const live = await server.db.sql`
    select from billing.segment where tenant_id = ${tenant} and starts_at <= ${new Date(clock.now() + 60_000)}
      and ends_at > ${new Date(clock.now() + 60_000)}`;
  expect(live).toHaveLength(1);
});

it('three processes renew each subscription once', async () => {
  const { id } = await api.subscribe(tenant, await api.plan());
  const sweeps = [sweeping(server, clock), sweeping(server, clock), sweeping(server, clock)];
  clock.turn('2026-04-15T10:00:00Z');
  await Promise.all(sweeps.map((sweep) => sweep()));
  expect((await api.invoices({ id })).map(({ period_start }) => period_start.slice(0, 10))).toEqual([
    ...['2026-01-15', '2026-02-15', '2026-03-15'],
  ]);
});
