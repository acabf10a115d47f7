import type { RedeemedCoupon } from '../../../../generated/billing/types.ts';
import type { View } from '../../../db/view.ts';
import { CouponNotFound, Refused, SubscriptionNotFound } from '../errors.ts';
import { planStore } from '../plans/plans.store.ts';
import { isLive } from '../subscriptions/states.ts';
import { subscriptionStore } from '../subscriptions/subscriptions.store.ts';
import type { Write } from '../writes.ts';
import { redeemedOf } from './coupon.ts';
import { type CouponRow, couponStore } from './coupons.store.ts';
import { isSpent } from './grants.ts';
import { CouponExhausted, redemptionFault } from './redemption-faults.ts';

interface Redemption {
  /** The id or the code of the coupon. */
  readonly ref: string;
  readonly view: View;
  readonly subscription_id: string;
  readonly now: number;
}

/**
 * Redeems a coupon for a subscription, whose lock decides how many coupons it has. One that it has already is not redeemed again. Only who
 * has a subscription that takes coupons learns whether one exists.
 */
export async function redeem(
  { sql, app, emit }: Write,
  { ref, view, subscription_id, now }: Redemption,
): Promise<RedeemedCoupon> {
  const store = couponStore(sql);
  const subscription = await subscriptionStore(sql).lock(view, subscription_id);
  if (subscription === undefined) throw SubscriptionNotFound();
  const { tenant_id, coupon_ids, plan_id, status } = subscription;
  if (!isLive(status)) throw Refused('coupon_invalid', 'subscription has ended');

  const named = await store.find(app, ref);
  if (named !== undefined && coupon_ids.includes(named.id))
    return redeemedOf(
      named,
      subscription_id,
      await store.appliedAt(named, { tenant_id, id: subscription_id }),
    );

  const redeemable = async (): Promise<CouponRow> => {
    const coupon = await store.find(app, ref);
    if (coupon === undefined) throw CouponNotFound();
    const { uses, hadCode } = await store.history(subscription, coupon.code);
    const fault = redemptionFault(
      coupon,
      {
        ids: coupon_ids,
        hadCode,
        isSpent: isSpent({ duration: coupon.duration, periods: coupon.duration_periods, uses }),
      },
      now,
    );
    if (fault) throw fault;
    return coupon;
  };
  const coupon = await redeemable();
  if (coupon.currency !== null && coupon.currency !== (await planStore(sql).find(app, plan_id))?.currency)
    throw Refused('coupon_invalid', 'coupon is in another currency than the plan');
  if (!(await store.take(coupon, now))) {
    // It was taken or changed since it was read, and what it is now says which.
    await redeemable();
    throw CouponExhausted();
  }
  const redeemed = redeemedOf(coupon, subscription_id, new Date(now).toISOString());
  await store.attach(coupon, { tenant_id, id: subscription_id, position: coupon_ids.length }, redeemed);
  emit('billing.coupon.redeemed', { id: coupon.id, tenant_id }, redeemed);
  return redeemed;
}
