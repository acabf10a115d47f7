import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TestServer } from '../../../testing/server.ts';
import { planFeatures } from '../meter/testing.ts';
import { serverBy, TestClock, tools } from '../testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
const clock = new TestClock('2026-01-15T10:00:00.000Z');
beforeAll(async () => {
  server = await serverBy(clock);
  api = tools(server);
});
afterAll(() => server.close());

const check = async (tenant: string, feature_key: string) => {
  const { used } = await api.send('POST', '/billing/entitlements/check', { tenant, body: { feature_key } });
  return used as number;
};

it('a check counts what the tenant has used under all its subscriptions, and nothing of another tenant', async () => {
  const plan = await api.plan({ features: planFeatures, pricing: null });
  const subscribe = async (tenant: string) => {
    const { id } = await api.subscribe(tenant, plan);
    return id;
  };
  const cancel = async (id: string) => {
    clock.turn(60_000);
    await api.send('POST', `/billing/subscriptions/${id}/cancel`, { body: { immediately: true } });
    clock.turn(60_000);
  };
  await subscribe('globex');
  await api.use('globex', 'calls', 1_000);
  await api.use('globex', 'seats', 1_000);
  let id = await subscribe('acme');
  for (const quantity of [1, 2, 4]) {
    await api.use('acme', 'calls', quantity);
    await api.use('acme', 'seats', quantity);
    await api.use('acme', 'storage', quantity);
    await cancel(id);
    id = await subscribe('acme');
  }
  expect([
    await check('acme', 'calls'),
    await check('acme', 'seats'),
    await check('acme', 'storage'),
  ]).toEqual([7, 7, 7]);
  const { results } = await api.send('POST', '/billing/entitlements/check-batch', {
    tenant: 'acme',
    body: { feature_keys: ['calls', 'seats'] },
  });
  expect(results).toMatchObject({ calls: { used: 7 }, seats: { used: 7, remaining: 0 } });
  expect(await api.send('GET', `/billing/meter/usage/${id}/storage`)).toMatchObject({
    current_usage: 7,
    period_start: '2026-01-15T10:00:00.000Z',
  });
  // The month ends, and with it only what restarts.
  clock.turn('2026-02-15T10:00:00.000Z');
  expect([await check('acme', 'calls'), await check('acme', 'seats')]).toEqual([0, 7]);
});

it('subscriptions from before they were counted together count for themselves', async () => {
  const plan = await api.plan({ features: planFeatures, pricing: null });
  const first = await api.subscribe('old', plan);
  await api.use('old', 'seats', 2);
  clock.turn(60_000);
  await api.send('POST', `/billing/subscriptions/${first.id}/cancel`, { body: { immediately: true } });
  clock.turn(60_000);
  const second = await api.subscribe('old', plan);
  await api.use('old', 'seats', 3);
  expect(await check('old', 'seats')).toBe(5);
  await server.db.sql`update billing.subscription set counts_from = starts_at where id = ${second.id}`;
  expect(await check('old', 'seats')).toBe(3);
});
