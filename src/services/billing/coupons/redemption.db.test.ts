import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Coupon, Plan } from '../../../../generated/billing/types.ts';
import type { TestServer } from '../../../testing/server.ts';
import type { SubscriptionRow } from '../subscriptions/subscriptions.store.ts';
import { storedSubscription } from '../testing/stored-subscription.ts';
import { serverBy, TestClock, tools } from '../testing.ts';
import { couponStore } from './coupons.store.ts';

const clock = new TestClock('2026-01-12T09:00:00Z');
let server: TestServer;
let api: ReturnType<typeof tools>;
let plan: Plan;
beforeAll(async () => {
  server = await serverBy(clock);
  api = tools(server);
  plan = await api.send('POST', '/billing/plans', { body: { name: 'Pro', currency: 'usd' } });
  // Keeps the events in the outbox, as a consumer that has not had them would.
  await server.db.sql`insert into plinth.relay_positions (service, consumer) values ('billing', 'test')`;
});
afterAll(() => server.close());

let count = 0;
const coupon = async (more: object = {}): Promise<Coupon> => {
  const body = { code: `CODE-${++count}`, type: 'percentage', percentage: '12.5', ...more };
  return (await api.send('POST', '/billing/coupons', { body })) as Coupon;
};
const subscription = (more: Partial<SubscriptionRow> = {}) =>
  storedSubscription(server.db.sql, { tenant_id: `tenant-${++count}`, plan_id: plan.id, ...more });
const redeem = (ref: string, { id, tenant_id }: SubscriptionRow) =>
  api.refusal('POST', `/billing/coupons/${ref}/redeem`, { tenant: tenant_id, body: { subscription_id: id } });
const timesRedeemed = async ({ id }: Coupon) =>
  (await api.send('GET', `/billing/coupons/${id}`)).times_redeemed as number;
const redemptions = async ({ id }: SubscriptionRow) =>
  await server.db.sql`select * from billing.redemption where subscription_id = ${id} order by position`;

const notFound = [404, 'coupon_not_found', 'coupon not found'];
const expired = [400, 'coupon_expired', 'coupon is not valid any more'];
const notStarted = [400, 'coupon_not_started', 'coupon is not valid yet'];
const exhausted = [400, 'coupon_exhausted', 'coupon was redeemed as often as it may be'];
const redeemed = [200, '', ''];

describe('redeem', () => {
  it('attaches the discount as it is now, by a code in any case', async () => {
    const { tenant_id, id } = await subscription();
    const one = await coupon({ code: 'Spring' });
    const amount = { amount: 500, currency: 'usd' };
    const two = await coupon({
      type: 'amount',
      percentage: null,
      amount,
      duration: 'repeating',
      duration_periods: 3,
    });
    const options = { tenant: tenant_id, body: { subscription_id: id } };
    const answer = await api.send('POST', '/billing/coupons/SPRING/redeem', options);
    expect(answer).toEqual({
      ...{
        coupon_id: one.id,
        code: 'Spring',
        discount_type: 'percentage',
        discount_value: '12.5',
        subscription_id: id,
      },
      applied_at: '2026-01-12T09:00:00.000Z',
    });
    expect(await api.send('POST', `/billing/coupons/${two.id}/redeem`, { body: options.body })).toMatchObject(
      {
        ...{ coupon_id: two.id, discount_type: 'amount', discount_value: { ...amount, display: '$5.00' } },
      },
    );
    await api.send('DELETE', '/billing/coupons/spring');
    expect(await redemptions({ id } as SubscriptionRow)).toMatchObject([
      {
        tenant_id,
        coupon_id: one.id,
        percentage: '12.5',
        amount: null,
        duration: 'once',
        times_used: 0,
        position: 0,
      },
      {
        coupon_id: two.id,
        percentage: null,
        amount: 500,
        currency: 'usd',
        duration: 'repeating',
        duration_periods: 3,
        position: 1,
      },
    ]);
    expect(await timesRedeemed(two)).toBe(1);
    const events = await server.db
      .sql`select type, tenant_id, data from billing.outbox where subject = ${one.id}`;
    expect(events).toEqual([{ type: 'billing.coupon.redeemed', tenant_id, data: answer }]);
  });

  it('is refused before a coupon starts and from when it ends', async () => {
    const one = await subscription();
    const { id } = await coupon({ valid_from: '2026-02-01T00:00:00Z', valid_until: '2026-03-01T00:00:00Z' });
    clock.turn('2026-01-31T23:59:59.999Z');
    expect(await redeem(id, one)).toEqual(notStarted);
    clock.turn('2026-03-01T00:00:00.000Z');
    expect(await redeem(id, one)).toEqual(expired);
    clock.turn('2026-02-28T23:59:59.999Z');
    expect(await redeem(id, one)).toEqual(redeemed);
    clock.turn('2026-01-12T09:00:00Z');
  });

  it('is refused when a coupon is used up, and open again when it may be redeemed more often', async () => {
    const made = await coupon({ max_redemptions: 1 });
    const [one, other] = [await subscription(), await subscription()];
    expect(await redeem(made.id, one)).toEqual(redeemed);
    expect(await api.send('GET', `/billing/coupons/${made.id}`)).toMatchObject({
      active: false,
      times_redeemed: 1,
    });
    expect(await redeem(made.id, other)).toEqual(exhausted);
    expect(await redeem(made.id, one)).toEqual(redeemed);
    expect(await timesRedeemed(made)).toBe(1);
    await api.send('PUT', `/billing/coupons/${made.id}`, { body: { max_redemptions: 2 } });
    expect(await redeem(made.id, other)).toEqual(redeemed);
  });

  it('takes an amount only in the currency of the plan', async () => {
    const amount = { amount: 500, currency: 'eur' };
    const { id } = await coupon({ type: 'amount', percentage: null, amount });
    const refusal = [400, 'coupon_invalid', 'coupon is in another currency than the plan'];
    expect(await redeem(id, await subscription())).toEqual(refusal);
  });

  it.each(['trialing', 'active', 'past_due', 'paused'] as const)(
    'is possible for one that is %s',
    async (status) => {
      expect(await redeem((await coupon()).id, await subscription({ status }))).toEqual(redeemed);
    },
  );

  it.each(['canceled', 'expired'] as const)(
    'is not for one that is %s, and shows no code',
    async (status) => {
      const ended = await subscription({ status });
      const refusal = [400, 'coupon_invalid', 'subscription has ended'];
      expect(await redeem((await coupon()).code, ended)).toEqual(refusal);
      expect(await redeem('no-such-code', ended)).toEqual(refusal);
    },
  );

  it('is not found without the coupon or the subscription, and without the latter shows no code', async () => {
    const one = await subscription();
    const { code } = await coupon();
    for (const ref of ['no-such-code', 'cpn_01h455vb4pex5vsknk084sn02q'])
      expect(await redeem(ref, one)).toEqual(notFound);
    const missing = [404, 'subscription_not_found', 'subscription not found'];
    for (const ref of [code, 'no-such-code']) {
      expect(await redeem(ref, { ...one, tenant_id: 'other' })).toEqual(missing);
      expect(await redeem(ref, { ...one, id: 'sub_01h455vb4pex5vsknk084sn02q' })).toEqual(missing);
    }
    expect(await redemptions(one)).toEqual([]);
  });
});

describe('many at once', () => {
  it('redeem the last one once', async () => {
    const made = await coupon({ max_redemptions: 1 });
    const all = await server.db.transaction(async (sql) => {
      const rows = [];
      for (let at = 0; at < 500; at++)
        rows.push(await storedSubscription(sql, { tenant_id: `many-${at}`, plan_id: plan.id }));
      return rows;
    });
    const settled = async (one: SubscriptionRow) => {
      let answer = await redeem(made.code, one);
      // So many transactions may wait for longer than a server lets them, and then it asks to try again.
      while (answer[1] === 'store_unavailable') answer = await redeem(made.code, one);
      return answer;
    };
    const answers = await Promise.all(all.map(settled));
    expect(answers.filter(([status]) => status === 200)).toHaveLength(1);
    expect(answers.filter(([status]) => status !== 200)).toEqual(Array(499).fill(exhausted));
    expect(await timesRedeemed(made)).toBe(1);
    const [{ total }] = await server.db.sql<[{ total: number }]>`
      select count(*)::integer as total from billing.redemption where coupon_id = ${made.id}`;
    expect(total).toBe(1);
  });

  it('take what is left of it, whatever they have read before', async () => {
    const made = await coupon({ max_redemptions: 3 });
    const row = await couponStore(server.db.sql).find('default', made.id);
    const taken = await Promise.all(
      Array.from({ length: 8 }, () => couponStore(server.db.sql).take(row!, clock.now())),
    );
    expect(taken.filter((isTaken) => isTaken)).toHaveLength(3);
    expect(await timesRedeemed(made)).toBe(3);
  });

  it('redeem a coupon once for a subscription', async () => {
    const [made, one] = [await coupon(), await subscription()];
    const answers = await Promise.all(Array.from({ length: 16 }, () => redeem(made.id, one)));
    expect(answers).toEqual(Array(16).fill(redeemed));
    expect(await redemptions(one)).toHaveLength(1);
    expect(await timesRedeemed(made)).toBe(1);
  });

  it('leave a subscription ten coupons, in the order of redemption', async () => {
    const one = await subscription();
    const made = await Promise.all(Array.from({ length: 14 }, () => coupon()));
    const answers = await Promise.all(made.map(({ id }) => redeem(id, one)));
    expect(answers.filter(([status]) => status === 200)).toHaveLength(10);
    const refusal = [400, 'coupon_invalid', 'subscription has 10 coupons already'];
    expect(answers.filter(([status]) => status !== 200)).toEqual(Array(4).fill(refusal));
    const rows = await redemptions(one);
    expect(rows.map((row) => row['position'])).toEqual(Array.from({ length: 10 }, (_, at) => at));
    const taken = await Promise.all(made.map(timesRedeemed));
    expect(taken.filter((times) => times === 1)).toHaveLength(10);
  });
});
