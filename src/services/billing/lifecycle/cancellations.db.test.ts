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

const yearlyAt = (amount: number) => ({ base_amount: usd(amount), billing_period: 'yearly' });

it('a cancellation at the end of a year ends with the month, when the plan becomes a monthly one', async () => {
  const subscription = await api.subscribe(tenant, await api.plan({ pricing: yearlyAt(36_500) }));
  const ask = (what: string, body?: object) =>
    api.send('POST', `/billing/subscriptions/${subscription.id}/${what}`, { body });
  expect((await ask('cancel')).cancel_at).toBe('2027-01-15T10:00:00.000Z');
  clock.turn('2026-01-20T10:00:00Z');
  expect(await ask('change-plan', { plan_id: (await api.plan()).id })).toMatchObject({
    current_period_end: '2026-02-20T10:00:00.000Z',
    cancel_at: '2026-02-20T10:00:00.000Z',
  });
  clock.turn('2026-02-20T10:00:00Z');
  await sweep();
  expect(await api.subscription(subscription.id)).toMatchObject({
    status: 'canceled',
    ended_at: '2026-02-20T10:00:00.000Z',
  });
});

describe('a cancellation that is withdrawn after a plan change', () => {
  const ask = (id: string, what: string, body?: object) =>
    api.send('POST', `/billing/subscriptions/${id}/${what}`, { body });

  it('within the new period leaves its price', async () => {
    const yearly = await api.plan({ pricing: yearlyAt(36_500) });
    const subscription = await api.subscribe(tenant, await api.plan());
    await ask(subscription.id, 'cancel');
    clock.turn('2026-01-20T10:00:00Z');
    await ask(subscription.id, 'change-plan', { plan_id: yearly.id });
    await api.send('PUT', `/billing/plans/${yearly.id}`, { body: { pricing: yearlyAt(73_000) } });
    await ask(subscription.id, 'uncancel');
    for (const time of ['2026-01-20T11:00:00Z', '2027-01-20T10:00:00Z']) {
      clock.turn(time);
      await sweep();
    }
    expect((await api.invoices(subscription)).map(({ total }) => total.amount)).toEqual([790, 36_500]);
  });

  it('beyond the new period leaves the course as it is', async () => {
    const subscription = await api.subscribe(tenant, await api.plan({ pricing: yearlyAt(36_500) }));
    await ask(subscription.id, 'cancel');
    await ask(subscription.id, 'change-plan', { plan_id: (await api.plan()).id });
    await ask(subscription.id, 'uncancel');
    const rows = await server.db.sql<{ starts_at: string; ends_at: string }[]>`
      select starts_at, ends_at from billing.segment where tenant_id = ${tenant} order by starts_at`;
    expect(rows.slice(1).map(({ starts_at }) => starts_at)).toEqual(
      rows.slice(0, -1).map(({ ends_at }) => ends_at),
    );
  });
});
