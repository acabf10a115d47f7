import { describe, expect, it } from 'vitest';
import { behaviour, contract, type Api } from '../harness.ts';
import { absent, newCoupon, newName, newPlan } from './offers.ts';

const notFound = 'coupon not found';

/** Subscribes a new tenant to a new plan. */
async function subscribed(api: Api) {
  const tenant = api.tenant();
  const { id: plan_id } = await newPlan(api);
  const body = { tenant_id: tenant.id, plan_id };
  const { id: subscription_id } = await tenant.plinth.billing.subscriptions.create({ body });
  return { tenant, body: { subscription_id } };
}

contract('Coupons', (api) => {
  const operator = () => api.operator();

  describe('create', () => {
    it('201 with the coupon', async () => {
      const body = { code: newName(), type: 'percentage', percentage: '12.5' } as const;
      const { data, response } = await operator().plinth.billing.coupons.create({ body }).response();
      expect(response.status).toBe(201);
      expect(data).toMatchObject({ type: 'percentage', amount: null, duration: 'once' });
      if (api.target === 'server') expect(data).toMatchObject(body);
    });

    it('400 without the value of its type', () =>
      operator().refused(400, 'amount: required for a coupon of this type', ({ billing }) =>
        billing.coupons.create({ body: { code: newName(), type: 'amount' } }),
      ));

    it('409 when the code is taken', async () => {
      const { code } = await newCoupon(api);
      await operator().refused(409, 'code: already exists', ({ billing }) =>
        billing.coupons.create({ body: { code: code.toUpperCase(), type: 'percentage', percentage: '5' } }),
      );
    });
  });

  describe('list', () => {
    it('200 with the newest first', async () => {
      const { id } = await newCoupon(api);
      const { data } = await operator().plinth.billing.coupons.list({ limit: 1 });
      expect(data).toHaveLength(1);
      if (api.target === 'server') expect(data[0]?.id).toBe(id);
    });
  });

  describe('get', () => {
    it('200 with the coupon, by its id and by its code', async () => {
      const { id, code } = await newCoupon(api);
      const { coupons } = operator().plinth.billing;
      expect(await coupons.get({ coupon: id })).toMatchObject({ id, code });
      expect(await coupons.get({ coupon: code })).toMatchObject({ id, code });
    });
  });

  describe('update', () => {
    it('200 with the coupon as it is now', async () => {
      const { id } = await newCoupon(api);
      const body = { name: 'Welcome', max_redemptions: 100 };
      expect(await operator().plinth.billing.coupons.update({ coupon: id, body })).toMatchObject(body);
    });

    it('404 when it does not exist', () =>
      operator().refused(404, notFound, ({ billing }) =>
        billing.coupons.update({ coupon: absent.coupon, body: { name: 'x' } }),
      ));
  });

  describe('delete', () => {
    it('204', async () => {
      const { id } = await newCoupon(api);
      await operator().plinth.billing.coupons.delete({ coupon: id });
    });
  });

  describe.each(['get', 'delete'] as const)('%s', (method) => {
    it('404 when it does not exist', () =>
      operator().refused(404, notFound, async ({ billing }) => {
        await billing.coupons[method]({ coupon: absent.coupon });
      }));
  });

  it('everything but to redeem: 403 for everybody but the operator', async () => {
    const { id } = await newCoupon(api);
    const key = await api.tenant().withKey(['billing:admin']);
    for (const method of ['get', 'delete'] as const)
      await key.refused(403, 'operator only', async ({ billing }) => {
        await billing.coupons[method]({ coupon: id });
      });
    await key.refused(403, 'operator only', ({ billing }) => billing.coupons.list());
  });

  describe('redeem', () => {
    it('200 with the discount', async () => {
      const [{ id, code }, { tenant, body }] = [await newCoupon(api), await subscribed(api)];
      const redeemed = await tenant.plinth.billing.coupons.redeem({ coupon: code, body });
      if (api.target === 'server')
        expect(redeemed).toMatchObject({ coupon_id: id, discount_value: '10', ...body });
    });

    it('400 when the coupon has ended', async () => {
      const { code } = await newCoupon(api, { valid_until: '2020-01-01T00:00:00Z' });
      const { tenant, body } = await subscribed(api);
      await tenant.refused(400, 'coupon is not valid any more', ({ billing }) =>
        billing.coupons.redeem({ coupon: code, body }),
      );
    });

    it('404 when there is no such subscription', async () => {
      const { code } = await newCoupon(api);
      await api
        .tenant()
        .refused(404, 'subscription not found', ({ billing }) =>
          billing.coupons.redeem({ coupon: code, body: { subscription_id: absent.subscription } }),
        );
    });

    it('404 when there is no such coupon', async () => {
      const { tenant, body } = await subscribed(api);
      await tenant.refused(404, notFound, ({ billing }) =>
        billing.coupons.redeem({ coupon: absent.coupon, body }),
      );
    });
  });
});

behaviour('Coupons', (api) => {
  it('the last redemption is given once', async () => {
    const { id, code } = await newCoupon(api, { max_redemptions: 1 });
    const subscribers = [await subscribed(api), await subscribed(api), await subscribed(api)];
    const results = await Promise.allSettled(
      subscribers.map(({ tenant, body }) => tenant.plinth.billing.coupons.redeem({ coupon: code, body })),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const { coupons } = api.operator().plinth.billing;
    expect(await coupons.get({ coupon: id })).toMatchObject({ times_redeemed: 1, active: false });
  });
});
