import { type CouponValue, type Granted, Grants } from '../coupons/grants.ts';
import { sumOf } from '../money/money.ts';
import type { Stretch } from '../periods/calendar.ts';
import { apportioned } from './apportioning.ts';

/** A coupon that was redeemed for a subscription. */
export interface RedeemedCoupon extends Granted {
  readonly couponId: string;
  readonly code: string;
  readonly value: CouponValue;
}

export interface AppliedDiscount {
  readonly couponId: string;
  readonly code: string;
  /** Minor units: more than 0, and below 0 where a credit takes a discount back. */
  readonly amount: bigint;
}

/** What a coupon deducts in one billing period. */
export interface PeriodDiscount extends AppliedDiscount {
  readonly period: Stretch;
}

/** An amount that an invoice bills, and the billing period in which it is owed. */
export interface BilledAmount {
  readonly amount: bigint;
  readonly period: Stretch;
}

/**
 * What coupons deduct from the amounts of an invoice, period by period, in order of redemption and never more than is left. A coupon that
 * deducts nothing is not used up.
 */
export function discountsOf(
  amounts: readonly BilledAmount[],
  coupons: readonly RedeemedCoupon[],
): PeriodDiscount[] {
  if (coupons.length === 0) return [];
  const granted = coupons.map((coupon) => ({ coupon, grants: new Grants(coupon) }));
  const discounts: PeriodDiscount[] = [];
  for (const { period, amount: subtotal } of byPeriod(amounts)) {
    let rest = subtotal;
    for (const { coupon, grants } of granted) {
      const room = grants.roomIn(period, subtotal, coupon.value);
      const amount = room < rest ? room : rest;
      if (amount <= 0n) continue;
      rest -= amount;
      grants.use(period, amount);
      discounts.push({ couponId: coupon.couponId, code: coupon.code, period, amount });
    }
  }
  return discounts;
}

/** The sums of the periods, oldest first. What an invoice gives back is set off against what it charges, in whatever period that is. */
function byPeriod(amounts: readonly BilledAmount[]): BilledAmount[] {
  const sums = [...Map.groupBy(amounts, ({ period }) => period.start).values()]
    .map((all) => ({ period: all[0]!.period, amount: sumOf(all.map(({ amount }) => amount)) }))
    .filter(({ amount }) => amount > 0n)
    .sort((one, other) => one.period.start - other.period.start);
  const subtotal = sumOf(amounts.map(({ amount }) => amount));
  if (subtotal <= 0n) return [];
  const parts = apportioned(
    subtotal,
    sums.map(({ amount }) => amount),
  );
  return sums.map(({ period }, index) => ({ period, amount: parts[index]! }));
}

/** The deductions of each coupon, whatever the period. */
export const summedByCoupon = (discounts: readonly PeriodDiscount[]): AppliedDiscount[] =>
  [...Map.groupBy(discounts, ({ couponId }) => couponId).values()].map((all) => ({
    couponId: all[0]!.couponId,
    code: all[0]!.code,
    amount: sumOf(all.map(({ amount }) => amount)),
  }));
