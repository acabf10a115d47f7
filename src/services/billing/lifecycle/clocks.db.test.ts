import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { TestServer } from '../../../testing/server.ts';
import { serverBy, TestClock, tools } from '../testing.ts';

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

it.each([
  ['pause', 'paused', async () => ({})],
  ['change-plan', 'active', async () => ({ plan_id: (await api.plan()).id })],
  ['cancel', 'canceled', async () => ({ immediately: true })],
])(
  '%s is taken by a process whose clock is behind that of the one that subscribed',
  async (what, status, bodyOf) => {
    const { id } = await api.subscribe(tenant, await api.plan());
    clock.turn(-50);
    const body = await bodyOf();
    await api.send('POST', `/billing/subscriptions/${id}/${what}`, { body });
    const after = await api.subscription(id);
    expect(after.status).toBe(status);
    expect(after.ended_at === null || after.ended_at > after.starts_at).toBe(true);
  },
);
