import type { Coupon, CouponCreate, RedeemedCoupon } from '../../../../generated/billing/types.ts';
import { Invalid } from '../../../lib/errors.ts';
import { checkMetadata } from '../metadata.ts';
import { isCurrency, moneyOf } from '../money/money.ts';
import type { CouponRow } from './coupons.store.ts';

type Validity = Pick<Coupon, 'valid_from' | 'valid_until'>;

/** Whether a coupon has started by a time, has ended, and has been redeemed as often as it may be. */
export const hasStarted = ({ valid_from }: Validity, now: number): boolean =>
  valid_from === null || Date.parse(valid_from) <= now;
export const hasEnded = ({ valid_until }: Validity, now: number): boolean =>
  valid_until !== null && Date.parse(valid_until) <= now;
export const isUsedUp = ({
  max_redemptions,
  times_redeemed,
}: Pick<Coupon, 'max_redemptions' | 'times_redeemed'>) =>
  max_redemptions > 0 && times_redeemed >= max_redemptions;

/** A coupon as responses show it. */
export const couponOf = ({ amount, ...row }: CouponRow, now: number): Coupon => ({
  ...row,
  amount: amount === null ? null : moneyOf(BigInt(amount), row.currency!),
  active: hasStarted(row, now) && !hasEnded(row, now) && !isUsedUp(row),
});

/** A redemption as responses show it. */
export const redeemedOf = (
  { id, code, type, percentage, amount, currency }: CouponRow,
  subscription_id: string,
  applied_at: string,
): RedeemedCoupon => ({
  coupon_id: id,
  code,
  discount_type: type,
  discount_value: percentage ?? moneyOf(BigInt(amount!), currency!),
  subscription_id,
  applied_at,
});

/** Checks what the contract cannot say about a new coupon. @throws Invalid, naming the member */
export function checkCoupon({
  type,
  percentage,
  amount,
  duration,
  duration_periods,
  ...rest
}: CouponCreate): void {
  const [value, other] = type === 'percentage' ? [percentage, amount] : [amount, percentage];
  if (value === null) throw Invalid(`${type}: required for a coupon of this type`);
  if (other !== null)
    throw Invalid(`${type === 'percentage' ? 'amount' : 'percentage'}: not for a coupon of this type`);
  if (amount !== null && amount.amount === 0) throw Invalid('amount.amount: must be more than 0');
  if (amount !== null && !isCurrency(amount.currency))
    throw Invalid('amount.currency: must be a currency code');
  if (duration === 'repeating' && duration_periods === null)
    throw Invalid('duration_periods: required for a repeating coupon');
  if (duration !== 'repeating' && duration_periods !== null)
    throw Invalid('duration_periods: only for a repeating coupon');
  checkValidity(rest);
  checkMetadata(rest.metadata);
}

/** @throws Invalid when a coupon would end before it starts */
export function checkValidity({ valid_from, valid_until }: Validity): void {
  if (valid_from !== null && valid_until !== null && Date.parse(valid_until) <= Date.parse(valid_from))
    throw Invalid('valid_until: must be after valid_from');
}
