import type { DomainError } from '../../../lib/errors.ts';
import { Refused } from '../errors.ts';
import { hasEnded, hasStarted, isUsedUp } from './coupon.ts';
import type { CouponRow } from './coupons.store.ts';

/** The most coupons of a subscription. */
const mostCoupons = 10;

/** What the tenant of a subscription has redeemed before. */
interface Redeemed {
  /** The ids of the coupons of the subscription. */
  readonly ids: readonly string[];
  /** Whether it had the code, also as that of another coupon, which was deleted since. */
  readonly hadCode: boolean;
  /** Whether the tenant, with this or other subscriptions, has had all the discounts of the code. */
  readonly isSpent: boolean;
}

/** Why a coupon cannot be redeemed for a subscription of a tenant that has redeemed these, or undefined if it can. */
export function redemptionFault(
  coupon: CouponRow,
  { ids, hadCode, isSpent }: Redeemed,
  now: number,
): DomainError | undefined {
  if (hadCode)
    return Refused('already_exists', 'coupon was redeemed for this subscription already', {
      kind: 'conflict',
    });
  if (!hasStarted(coupon, now)) return Refused('coupon_not_started', 'coupon is not valid yet');
  if (hasEnded(coupon, now)) return Refused('coupon_expired', 'coupon is not valid any more');
  if (isUsedUp(coupon)) return CouponExhausted();
  if (isSpent) return Refused('coupon_exhausted', 'tenant has had all discounts of the coupon');
  if (ids.length >= mostCoupons)
    return Refused('coupon_invalid', `subscription has ${mostCoupons} coupons already`);
  return undefined;
}

export const CouponExhausted = () => Refused('coupon_exhausted', 'coupon was redeemed as often as it may be');
