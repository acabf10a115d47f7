import type { DomainError } from '../../../lib/errors.ts';
import { Refused } from '../errors.ts';
import { hasEnded, hasStarted, isUsedUp } from './coupon.ts';
import type { CouponRow } from './coupons.store.ts';

/** The most coupons of a subscription. */
const mostCoupons = 10;

/** Why a coupon cannot be redeemed for a subscription that has these other coupons, or undefined if it can. */
export function redemptionFault(
  coupon: CouponRow,
  had: readonly string[],
  now: number,
): DomainError | undefined {
  if (!hasStarted(coupon, now)) return Refused('coupon_not_started', 'coupon is not valid yet');
  if (hasEnded(coupon, now)) return Refused('coupon_expired', 'coupon is not valid any more');
  if (isUsedUp(coupon)) return CouponExhausted();
  if (had.length >= mostCoupons)
    return Refused('coupon_invalid', `subscription has ${mostCoupons} coupons already`);
  return undefined;
}

export const CouponExhausted = () => Refused('coupon_exhausted', 'coupon was redeemed as often as it may be');
