import type { CouponDuration } from '../../../../generated/billing/types.ts';
import { percentOf, sumOf } from '../money/money.ts';
import type { Stretch } from '../periods/calendar.ts';
import { apportioned } from './apportioning.ts';

/** What final invoices have deducted for a coupon in a billing period. */
export interface CouponUse {
  readonly period: Stretch;
  readonly amount: bigint;
}

/** A coupon that was redeemed for a subscription. */
export interface RedeemedCoupon {
  readonly couponId: string;
  readonly code: string;
  readonly value: { readonly percentage: string } | { readonly amount: bigint };
  readonly duration: CouponDuration;
  /** For the duration `repeating`. */
  readonly periods: number | null;
  /** The uses of its code by the tenant, whatever the subscription, by the start of their periods. */
  readonly uses: readonly CouponUse[];
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
 * The grants of a coupon: how many periods it has discounted, and how much it may still deduct in each. A period that begins within one that
 * was discounted, because the tenant has subscribed anew or changed to other periods, is the same grant: how many invoices and subscriptions
 * there are is for the tenant to decide.
 */
class Grants {
  readonly #most: number;
  readonly #granted: { readonly period: Stretch; amount: bigint }[] = [];

  constructor({ duration, periods, uses }: Granted) {
    this.#most = duration === 'forever' ? Infinity : duration === 'once' ? 1 : (periods ?? 0);
    for (const { period, amount } of uses) this.use(period, amount);
  }

  /** Whether no other period may be discounted. */
  get isSpent(): boolean {
    return this.#granted.length >= this.#most;
  }

  use(period: Stretch, amount: bigint): void {
    const granted = this.#find(period);
    if (granted === undefined) this.#granted.push({ period, amount });
    else granted.amount += amount;
  }

  /** What may be deducted from a subtotal of a period. */
  roomIn(period: Stretch, subtotal: bigint, value: RedeemedCoupon['value']): bigint {
    const granted = this.#find(period);
    if (granted === undefined && this.isSpent) return 0n;
    if (!('amount' in value)) return percentOf(subtotal, value.percentage);
    const left = value.amount - (granted?.amount ?? 0n);
    return left > 0n ? left : 0n;
  }

  #find({ start }: Stretch) {
    return this.#granted.find(({ period }) => period.start <= start && start < period.end);
  }
}

type Granted = Pick<RedeemedCoupon, 'duration' | 'periods' | 'uses'>;

/** Whether a coupon has discounted all the periods that it may. */
export const isSpent = (coupon: Granted): boolean => new Grants(coupon).isSpent;

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
