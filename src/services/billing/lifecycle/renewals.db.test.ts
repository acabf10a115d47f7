import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Invoice } from '../../../../generated/billing/types.ts';
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

const totals = (invoices: readonly Invoice[]) => invoices.map(({ status, total }) => [status, total.amount]);
const stretches = (invoices: readonly Invoice[]) =>
  invoices.map(({ period_start, period_end }) => [period_start.slice(0, 10), period_end.slice(0, 10)]);

it('a period that ends is drafted, and becomes final after an hour', async () => {
  const subscription = await api.subscribe(tenant, await api.plan());
  await api.use(tenant, 'api_calls', 10_200);
  clock.turn('2026-02-15T09:59:59Z');
  await sweep();
  expect(await api.invoices(subscription)).toEqual([]);
  clock.turn('2026-02-15T10:00:00Z');
  await sweep();
  const [draft, ...others] = await api.invoices(subscription);
  expect(others).toEqual([]);
  expect(draft).toMatchObject({
    status: 'draft',
    origin: 'renewal',
    total: { amount: 5000 },
    period_start: '2026-01-15T10:00:00.000Z',
    period_end: '2026-02-15T10:00:00.000Z',
  });
  expect(await api.subscription(subscription.id)).toMatchObject({
    status: 'active',
    current_period_start: '2026-02-15T10:00:00.000Z',
    current_period_end: '2026-03-15T10:00:00.000Z',
  });
  clock.turn('2026-02-15T10:59:59Z');
  await sweep();
  expect((await api.invoice(draft!.id)).status).toBe('draft');
  clock.turn('2026-02-15T11:00:00Z');
  await sweep();
  expect(await api.invoice(draft!.id)).toMatchObject({
    status: 'pending',
    finalized_at: '2026-02-15T11:00:00.000Z',
    due_date: '2026-03-17T11:00:00.000Z',
  });
});

it('three missed months make three invoices, each of its own month', async () => {
  const subscription = await api.subscribe(tenant, await api.plan());
  await api.use(tenant, 'api_calls', 10_200);
  clock.turn('2026-02-20T10:00:00Z');
  await api.use(tenant, 'api_calls', 10_400);
  clock.turn('2026-04-15T12:00:00Z');
  await sweep();
  const drafts = await api.invoices(subscription);
  expect(stretches(drafts)).toEqual([
    ['2026-01-15', '2026-02-15'],
    ['2026-02-15', '2026-03-15'],
    ['2026-03-15', '2026-04-15'],
  ]);
  clock.turn('2026-04-15T13:00:00Z');
  await sweep();
  expect(totals(await api.invoices(subscription))).toEqual([
    ['pending', 5000],
    ['pending', 5100],
    ['pending', 4900],
  ]);
});

it('a subscription that began earlier is billed for the periods since', async () => {
  const subscription = await api.subscribe(tenant, await api.plan(), { starts_at: '2025-11-15T10:00:00Z' });
  expect(subscription).toMatchObject({
    starts_at: '2025-11-15T10:00:00.000Z',
    current_period_start: '2026-01-15T10:00:00.000Z',
  });
  expect(stretches(await api.invoices(subscription))).toEqual([
    ['2025-11-15', '2025-12-15'],
    ['2025-12-15', '2026-01-15'],
  ]);
});

it('usage that comes after its invoice adjusts the next one', async () => {
  const subscription = await api.subscribe(tenant, await api.plan());
  await api.use(tenant, 'api_calls', 10_000);
  clock.turn('2026-02-15T12:00:00Z');
  await sweep();
  clock.turn('2026-02-15T13:00:00Z');
  await sweep();
  await api.use(tenant, 'api_calls', 500, { timestamp: '2026-02-14T00:00:00Z' });
  clock.turn('2026-03-15T12:00:00Z');
  await sweep();
  clock.turn('2026-03-15T13:00:00Z');
  await sweep();
  const [first, second] = await api.invoices(subscription);
  expect(first).toMatchObject({ status: 'pending', total: { amount: 4900 } });
  expect(second!.line_items.map(({ type, amount }) => [type, amount.amount])).toEqual([
    ['adjustment', 250],
    ['base', 4900],
  ]);
});

it('a period in which nothing costs anything makes no invoice', async () => {
  const free = await api.plan({ pricing: null });
  const subscription = await api.subscribe(tenant, free);
  clock.turn('2026-02-15T12:00:00Z');
  await sweep();
  expect(await api.invoices(subscription)).toEqual([]);
  expect((await api.subscription(subscription.id)).current_period_start).toBe('2026-02-15T10:00:00.000Z');
});

it('new prices count from the next period on, new limits at once', async () => {
  const plan = await api.plan();
  const subscription = await api.subscribe(tenant, plan);
  const features = plan.features.map((one) => (one.key === 'seats' ? { ...one, limit: 2 } : one));
  await api.send('PUT', `/billing/plans/${plan.id}`, {
    body: { features, pricing: { ...plan.pricing, base_amount: usd(6000) } },
  });
  await api.use(tenant, 'seats', 2);
  const check = await api.send('POST', '/billing/entitlements/check', {
    body: { tenant_id: tenant, feature_key: 'seats' },
  });
  expect(check).toMatchObject({ allowed: false, limit: 2, used: 2 });
  clock.turn('2026-03-15T12:00:00Z');
  await sweep();
  clock.turn('2026-03-15T13:00:00Z');
  await sweep();
  expect((await api.invoices(subscription)).map(({ total }) => total.amount)).toEqual([4900, 6000]);
});

it('a renewal bills its period, whatever somebody drafts meanwhile', async () => {
  const subscription = await api.subscribe(tenant, await api.plan());
  clock.turn('2026-02-15T10:00:00Z');
  await sweep();
  await api.finalize(await api.draft(subscription));
  clock.turn('2026-02-15T11:00:00Z');
  await sweep();
  const [renewal, asked] = await api.invoices(subscription);
  expect(renewal).toMatchObject({ origin: 'renewal', status: 'pending', subtotal: { amount: 4_900 } });
  expect(asked!.line_items.map(({ period_start }) => period_start)).not.toContain('2026-01-15T10:00:00.000Z');
});
