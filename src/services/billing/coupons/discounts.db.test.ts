import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Invoice, Subscription } from '../../../../generated/billing/types.ts';
import type { TestServer } from '../../../testing/server.ts';
import { serverBy, TestClock, tools, usd } from '../testing.ts';

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

let codes = 0;
const coupon = async (body: object = {}): Promise<string> => {
  const code = `CODE${(codes += 1)}`;
  await api.send('POST', '/billing/coupons', {
    body: { code, type: 'amount', amount: usd(2_000), duration: 'forever', ...body },
  });
  return code;
};
const redeem = (code: string, { id }: Subscription) =>
  api.send('POST', `/billing/coupons/${code}/redeem`, { tenant, body: { subscription_id: id } });
/** A plan of calls at a dollar each. */
const calls = () =>
  api.plan({
    features: [{ key: 'calls', type: 'metered' }],
    pricing: { tiers: [{ feature_key: 'calls', up_to: -1, unit_amount: usd(100) }] },
  });
/** What a tenant pays for calls when it drafts an invoice of them itself, and pays it. */
async function billed(subscription: Subscription, quantity: number): Promise<number> {
  await api.use(tenant, 'calls', quantity);
  const draft: Invoice = await api.send('POST', '/billing/invoices', {
    tenant,
    body: { subscription_id: subscription.id },
  });
  return (await api.send('POST', `/billing/invoices/${draft.id}/pay`)).total.amount;
}
const sum = (amounts: readonly number[]) => amounts.reduce((all, one) => all + one, 0);

describe('an amount is granted once in a billing period', () => {
  it('over all invoices that a tenant makes of it, and again in the next', async () => {
    const subscription = await api.subscribe(tenant, await calls());
    await redeem(await coupon(), subscription);
    const paid = [];
    for (let index = 0; index < 10; index++) paid.push(await billed(subscription, 15));
    expect(sum(paid)).toBe(15_000 - 2_000);
    clock.turn('2026-02-15T10:00:00Z');
    expect(await billed(subscription, 30)).toBe(1_000);
  });

  it('when two drafts become final at once', async () => {
    const subscription = await api.subscribe(tenant, await calls());
    await redeem(await coupon(), subscription);
    await api.use(tenant, 'calls', 15);
    const drafts = [await api.draft(subscription)];
    await api.use(tenant, 'calls', 15);
    drafts.push(await api.draft(subscription));
    await Promise.allSettled(drafts.map(api.finalize));
    const final = await api.finalize(await api.draft(subscription)).catch(() => undefined);
    const all = (await api.invoices(subscription)).filter(({ status }) => status === 'pending');
    expect(final === undefined || all.length > 1).toBe(true);
    expect(sum(all.map(({ discount_amount }) => discount_amount.amount))).toBe(2_000);
    expect(sum(all.map(({ total }) => total.amount))).toBe(1_000);
  });

  it('although the tenant cancels and subscribes anew', async () => {
    const [code, plan] = [await coupon(), await calls()];
    const paid = [];
    for (let index = 0; index < 3; index++) {
      const subscription = await api.subscribe(tenant, plan);
      await redeem(code, subscription);
      paid.push(await billed(subscription, 20));
      const body = { immediately: true };
      await api.send('POST', `/billing/subscriptions/${subscription.id}/cancel`, { tenant, body });
      clock.turn(60_000);
    }
    expect(paid).toEqual([0, 2_000, 2_000]);
  });

  it('and again when an invoice is voided and billed again', async () => {
    const subscription = await api.subscribe(tenant, await calls());
    await redeem(await coupon(), subscription);
    await api.use(tenant, 'calls', 30);
    const first = await api.finalize(await api.draft(subscription));
    await api.send('POST', `/billing/invoices/${first.id}/void`, { body: { rebill: true } });
    expect(await api.finalize(await api.draft(subscription))).toMatchObject({ total: { amount: 1_000 } });
  });
});

it('a repeating coupon counts periods, not invoices', async () => {
  const subscription = await api.subscribe(tenant, await calls());
  await redeem(
    await coupon({
      ...{ type: 'percentage', percentage: '50', amount: null },
      ...{ duration: 'repeating', duration_periods: 2 },
    }),
    subscription,
  );
  expect([await billed(subscription, 10), await billed(subscription, 10)]).toEqual([500, 500]);
  clock.turn('2026-02-15T10:00:00Z');
  expect([await billed(subscription, 10), await billed(subscription, 10)]).toEqual([500, 500]);
  clock.turn('2026-03-15T10:00:00Z');
  expect(await billed(subscription, 10)).toBe(1_000);
});

describe('a code', () => {
  it('that is deleted and made again is redeemed once for a subscription', async () => {
    const subscription = await api.subscribe(tenant, await calls());
    const code = await coupon();
    await redeem(code, subscription);
    await api.send('DELETE', `/billing/coupons/${code}`);
    const body = { code: code.toLowerCase(), type: 'amount', amount: usd(2_000) };
    await api.send('POST', '/billing/coupons', { body });
    const again = { tenant, body: { subscription_id: subscription.id } };
    expect(await api.refusal('POST', `/billing/coupons/${code}/redeem`, again)).toEqual([
      ...[409, 'already_exists', 'coupon was redeemed for this subscription already'],
    ]);
  });

  it('whose discounts a tenant has had is not redeemed for its next subscription', async () => {
    const [code, plan] = [await coupon({ duration: 'once' }), await calls()];
    const first = await api.subscribe(tenant, plan);
    await redeem(code, first);
    await billed(first, 20);
    const body = { immediately: true };
    await api.send('POST', `/billing/subscriptions/${first.id}/cancel`, { tenant, body });
    clock.turn('2026-06-15T10:00:00Z');
    const next = await api.subscribe(tenant, plan);
    const again = { tenant, body: { subscription_id: next.id } };
    expect(await api.refusal('POST', `/billing/coupons/${code}/redeem`, again)).toEqual([
      ...[400, 'coupon_exhausted', 'tenant has had all discounts of the coupon'],
    ]);
  });
});
