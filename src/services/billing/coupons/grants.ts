import type { CouponDuration } from '../../../../generated/billing/types.ts';
import { percentOf } from '../money/money.ts';
import type { Stretch } from '../periods/calendar.ts';

/** What a coupon deducts from a subtotal. */
export type CouponValue = { readonly percentage: string } | { readonly amount: bigint };

/** What final invoices have deducted for a coupon in a billing period. */
export interface CouponUse {
  readonly period: Stretch;
  readonly amount: bigint;
}

/** How many periods a coupon discounts, and those that it has discounted. */
export interface Granted {
  readonly duration: CouponDuration;
  /** For the duration `repeating`. */
  readonly periods: number | null;
  /** The uses of its code by the tenant, whatever the subscription, by the start of their periods. */
  readonly uses: readonly CouponUse[];
}

/**
 * The grants of a coupon: how many periods it has discounted, and how much it may still deduct in each. A period that begins within one that
 * was discounted, because the tenant has subscribed anew or changed to other periods, is the same grant: how many invoices and subscriptions
 * there are is for the tenant to decide.
 */
export class Grants {
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
  roomIn(period: Stretch, subtotal: bigint, value: CouponValue): bigint {
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

/** Whether a coupon has discounted all the periods that it may. */
export const isSpent = (coupon: Granted): boolean => new Grants(coupon).isSpent;
