import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TestServer } from '../../../testing/server.ts';
import { serverBy, TestClock, tools } from '../testing.ts';
import { accountStore } from './account.store.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
const clock = new TestClock('2026-01-15T10:00:00Z');
beforeAll(async () => {
  server = await serverBy(clock);
  api = tools(server);
});
afterAll(() => server.close());

it('an invoice reads the counters of what its plans price, however many others there are', async () => {
  const subscription = await api.subscribe('acme', await api.plan());
  for (const key of ['api_calls', 'seats', 'unknown-1', 'unknown-2']) await api.use('acme', key, 3);
  const store = accountStore(server.db.sql);
  const tallies = await store.tallies(subscription, 0, ['api_calls']);
  expect(tallies.map(({ featureKey, quantity }) => [featureKey, quantity.toFixed()])).toEqual([
    ['api_calls', '3'],
  ]);
  const before = await store.countedBefore(
    { ...subscription, counts_from: subscription.starts_at },
    Date.parse('2026-02-15T10:00:00Z'),
    ['seats'],
  );
  expect([...before].map(([key, quantity]) => [key, quantity.toFixed()])).toEqual([['seats', '3']]);
});
