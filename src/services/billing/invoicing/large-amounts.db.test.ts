import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Subscription } from '../../../../generated/billing/types.ts';
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

/** A subscription that pays for calls only. */
async function callsAt(unit_amount: number): Promise<Subscription> {
  const tiers = [{ feature_key: 'api_calls', up_to: -1, unit_amount: usd(unit_amount) }];
  return await api.subscribe(tenant, await api.plan({ pricing: { tiers } }));
}
const amountsOf = async (subscription: Subscription) =>
  (await api.invoices(subscription)).map(({ total }) => total.amount);

describe('an amount that no invoice can show', () => {
  const tooLarge = [400, 'invoice_incomplete', 'invoice has an amount that is too large'];

  it('has no preview and no draft', async () => {
    const { id } = await callsAt(10_000);
    await api.use(tenant, 'api_calls', 1e12);
    const refused = [
      await api.refusal('GET', `/billing/subscriptions/${id}/upcoming-invoice`),
      await api.refusal('POST', '/billing/invoices', { body: { subscription_id: id } }),
    ];
    expect(refused).toEqual([tooLarge, tooLarge]);
  });

  it('lets the subscription go on, and is billed with a later period once it was corrected', async () => {
    const subscription = await callsAt(10_000);
    await api.use(tenant, 'api_calls', 1e12);
    clock.turn('2026-02-15T12:00:00Z');
    await sweep();
    expect(await api.subscription(subscription.id)).toMatchObject({
      current_period_start: '2026-02-15T10:00:00.000Z',
    });
    expect(await amountsOf(subscription)).toEqual([]);
    await api.use(tenant, 'api_calls', 5 - 1e12, { timestamp: '2026-01-15T10:00:00Z' });
    clock.turn('2026-03-15T12:00:00Z');
    await sweep();
    expect(await amountsOf(subscription)).toEqual([50_000]);
  });

  it('lets the subscription end', async () => {
    const subscription = await callsAt(10_000);
    await api.use(tenant, 'api_calls', 1e12);
    const body = { immediately: true };
    expect(
      await api.send('POST', `/billing/subscriptions/${subscription.id}/cancel`, { body }),
    ).toMatchObject({
      status: 'canceled',
    });
  });
});

it('several invoices may together bill more than one can show', async () => {
  const subscription = await callsAt(9_000);
  await api.use(tenant, 'api_calls', 1e12);
  await api.finalize(await api.draft(subscription));
  await api.use(tenant, 'api_calls', 1e11);
  await api.use(tenant, 'api_calls', 1e-4);
  await api.finalize(await api.draft(subscription));
  await api.use(tenant, 'api_calls', 1);
  await api.finalize(await api.draft(subscription));
  // A ten-thousandth of a call costs 0.9 cents, rounded once: 1, and none of it is lost beyond 2^53.
  expect(await amountsOf(subscription)).toEqual([9_000_000_000_000_000, 900_000_000_000_001, 9_000]);
});
