import type { Coupons } from '../../../../generated/billing/server.ts';
import type { CouponCreate } from '../../../../generated/billing/types.ts';
import type { Context } from '../../../http/context.ts';
import { viewOf } from '../../../http/view.ts';
import { newId } from '../../../lib/ids.ts';
import type { Deps } from '../deps.ts';
import { CouponNotFound } from '../errors.ts';
import { checkMetadata } from '../metadata.ts';
import { pageOf } from '../pages.ts';
import { isChanged } from '../previous.ts';
import { checkCoupon, checkValidity, couponOf } from './coupon.ts';
import { type CouponRow, couponStore } from './coupons.store.ts';
import { redeem } from './redemption.ts';

/** Coupons: discounts of an app, which tenants redeem by the codes that they are given. */
export const coupons = ({ db, write, clock }: Pick<Deps, 'db' | 'write' | 'clock'>) =>
  ({
    async create({ body }, context) {
      checkCoupon(body);
      const row = newCoupon(body, context.app, clock.now());
      await write(context, ({ sql }) => couponStore(sql).insert(row));
      return couponOf(row, clock.now());
    },

    async list({ active, ...page }, { app }) {
      const now = clock.now();
      const found = await couponStore(db.sql).list(app, { active, now }, page);
      return pageOf(page, found, (row) => couponOf(row, now));
    },

    async get({ coupon: ref }, { app }) {
      const row = await couponStore(db.sql).find(app, ref);
      if (row === undefined) throw CouponNotFound();
      return couponOf(row, clock.now());
    },

    async update({ coupon: ref, body }, context) {
      if (body.metadata) checkMetadata(body.metadata);
      return await write(context, async ({ sql }) => {
        const before = await couponStore(sql).lock(context.app, ref);
        if (before === undefined) throw CouponNotFound();
        const after = { ...before, ...body, updated_at: new Date(clock.now()).toISOString() };
        checkValidity(after);
        if (!isChanged(before, after)) return couponOf(before, clock.now());
        await couponStore(sql).update(after);
        return couponOf(after, clock.now());
      });
    },

    async delete({ coupon: ref }, context) {
      await write(context, async ({ sql }) => {
        if (!(await couponStore(sql).delete(context.app, ref, clock.now()))) throw CouponNotFound();
      });
    },

    redeem: ({ coupon, body: { subscription_id } }, context) =>
      write(context, (tx) =>
        redeem(tx, { ref: coupon, view: viewOf(context), subscription_id, now: clock.now() }),
      ),
  }) satisfies Coupons<Context>;

function newCoupon(
  { code, name = code, amount, ...body }: CouponCreate,
  app: string,
  now: number,
): CouponRow {
  const at = new Date(now).toISOString();
  return {
    ...body,
    id: newId('cpn'),
    code,
    name,
    amount: amount?.amount ?? null,
    currency: amount?.currency ?? null,
    times_redeemed: 0,
    app_id: app,
    created_at: at,
    updated_at: at,
  };
}
