import type { CouponDuration } from '../../../../generated/billing/types.ts';
import { percentOf } from '../money/money.ts';

/** A coupon that was redeemed for a subscription, and how often it has discounted a final invoice. */
export interface RedeemedCoupon {
  readonly couponId: string;
  readonly code: string;
  readonly value: { readonly percentage: string } | { readonly amount: bigint };
  readonly duration: CouponDuration;
  /** For the duration `repeating`. */
  readonly periods: number | null;
  readonly timesUsed: number;
}

export interface AppliedDiscount {
  readonly couponId: string;
  readonly code: string;
  /** Minor units: more than 0, and below 0 where a credit takes a discount back. */
  readonly amount: bigint;
}

/** Whether a coupon still discounts invoices. */
export function isLeft({ duration, periods, timesUsed }: RedeemedCoupon): boolean {
  if (duration === 'forever') return true;
  return timesUsed < (duration === 'once' ? 1 : (periods ?? 0));
}

/**
 * What coupons deduct from a subtotal, in order of redemption and never more than is left of it. A coupon that deducts nothing is not
 * used up.
 */
export function discountsOf(subtotal: bigint, coupons: readonly RedeemedCoupon[]): AppliedDiscount[] {
  const discounts: AppliedDiscount[] = [];
  let rest = subtotal;
  for (const { couponId, code, value, ...coupon } of coupons) {
    if (rest <= 0n) break;
    if (!isLeft({ couponId, code, value, ...coupon })) continue;
    const full = 'amount' in value ? value.amount : percentOf(subtotal, value.percentage);
    const amount = full < rest ? full : rest;
    if (amount > 0n) discounts.push({ couponId, code, amount });
    rest -= amount;
  }
  return discounts;
}
