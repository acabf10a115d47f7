import fc from 'fast-check';

/** What a tenant does in the random sequences, and the operation with which it does it. */
export const actions = {
  subscribe: 'Subscriptions_create',
  change: 'Subscriptions_changePlan',
  cancel: 'Subscriptions_cancel',
  uncancel: 'Subscriptions_uncancel',
  use: 'Meter_record',
  useMany: 'Meter_recordBatch',
  redeem: 'Coupons_redeem',
  draft: 'Invoices_create',
  pay: 'Payments_create',
  cancelPayment: 'Payments_cancel',
  attach: 'PaymentMethods_create',
  setDefault: 'PaymentMethods_setDefault',
  detach: 'PaymentMethods_delete',
  register: 'Customers_create',
  move: 'Customers_update',
  erase: 'Customers_delete',
} as const;

export type Action = keyof typeof actions;

/** One request of a tenant. */
export interface Step {
  /** How long after the one before. */
  readonly hours: number;
  readonly action: Action;
  /** Which of several plans, coupons or kinds it is about. */
  readonly choice: number;
  readonly quantity: number;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** All periods of the months in which the sequences happen have this many days, so that an hour of a plan has one price. */
const days = 31;
/** When a sequence begins, and how long it lasts at most. */
export const firstDay = '2026-07-01T00:00:00.000Z';
export const lastsMs = 2 * days * dayMs;

/** The use of a window that costs nothing, and the price of each further unit in minor units. */
const freeUnits = 100;
const unitAmount = 10;
const money = (amount: number) => ({ amount, currency: 'usd' });

/** A plan of the sequences. Usage is priced alike in all of them: what is free belongs to the tenant, whatever plans it has. */
export interface Offer {
  /** Minor units for each hour for which it is used. */
  readonly hourly: number;
  readonly trialDays: number;
  readonly interval: 'monthly' | 'yearly';
}

export const offers: readonly Offer[] = [
  { hourly: 0, trialDays: 0, interval: 'monthly' },
  { hourly: 10, trialDays: 0, interval: 'monthly' },
  { hourly: 1_000, trialDays: 0, interval: 'monthly' },
  { hourly: 500, trialDays: 7, interval: 'monthly' },
  { hourly: 8, trialDays: 0, interval: 'yearly' },
];

/** The request that makes a plan. */
export const planOf = ({ hourly, trialDays, interval }: Offer, at: number) => ({
  name: `Offer ${at}`,
  currency: 'usd',
  trial_days: trialDays,
  features: [{ key: 'api_calls', type: 'metered' }],
  pricing: {
    base_amount: money(hourly * 24 * (interval === 'monthly' ? days : 365)),
    billing_period: interval,
    tiers: [
      { feature_key: 'api_calls', up_to: freeUnits },
      { feature_key: 'api_calls', up_to: -1, unit_amount: money(unitAmount) },
    ],
  },
});

/** A coupon of the sequences. */
export interface Gift {
  readonly percentage: number;
  /** Minor units, once for the tenant or once for each of its periods. */
  readonly amount: number;
  readonly duration: 'once' | 'forever';
}

export const gifts: readonly Gift[] = [
  { percentage: 10, amount: 0, duration: 'forever' },
  { percentage: 0, amount: 500, duration: 'once' },
  { percentage: 0, amount: 2_000, duration: 'forever' },
];

/** The request that makes a coupon. */
export const couponOf = ({ percentage, amount, duration }: Gift, code: string) => ({
  ...{ code, duration },
  ...(percentage > 0
    ? { type: 'percentage', percentage: String(percentage) }
    : { type: 'amount', amount: money(amount) }),
});

const likely: readonly Action[] = [
  'subscribe',
  'change',
  'change',
  'cancel',
  'use',
  'use',
  'redeem',
  'draft',
  'pay',
];

/** Random sequences of what a tenant may do with its own key. */
export const sequences: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    hours: fc.integer({ min: 1, max: 140 }),
    action: fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...likely) },
      { weight: 1, arbitrary: fc.constantFrom(...(Object.keys(actions) as Action[])) },
    ),
    choice: fc.nat({ max: 9 }),
    quantity: fc.integer({ min: 1, max: 150 }),
  }),
  { minLength: 8, maxLength: 24 },
);

/** A stretch for which a subscription gave its tenant one plan. Times are milliseconds since 1970. */
export interface Lived {
  readonly start: number;
  readonly end: number;
  readonly offer: Offer;
  /** Whether the subscription is the one that began with the tenant's trial. */
  readonly isOfTrial: boolean;
}

/** What a tenant used at a time at which it had a plan. */
export interface Used extends Pick<Lived, 'offer' | 'isOfTrial'> {
  readonly at: number;
  readonly quantity: number;
}

/** What has happened to a tenant. */
export interface History {
  readonly lived: readonly Lived[];
  readonly used: readonly Used[];
  /** When its one trial began. */
  readonly trialStart: number | undefined;
  readonly gifts: ReadonlySet<Gift>;
}

/**
 * The least that a tenant may be billed, in minor units: the same use by one subscription without interruptions at the prices that were in
 * force, less what the operator has granted, which is one trial and each discount once.
 */
export function leastBill({ lived, used, trialStart, gifts: given }: History): number {
  const trialEnd = ({ offer, isOfTrial }: Pick<Lived, 'offer' | 'isOfTrial'>): number =>
    trialStart === undefined || !isOfTrial ? -Infinity : trialStart + offer.trialDays * dayMs;
  const base = sum(
    lived.map((one) => {
      const paidFrom = Math.max(one.start, trialEnd(one));
      return one.end <= paidFrom ? 0 : ((one.end - paidFrom) / hourMs) * one.offer.hourly;
    }),
  );
  const paid = used.filter((one) => one.at >= trialEnd(one));
  const first = lived[0]?.start ?? 0;
  const windowAt = (at: number) => Math.floor((at - first) / (days * dayMs));
  const windowOf = ({ at }: Used) => windowAt(at);
  const usage = sum(
    [...new Set(paid.map(windowOf))].map((window) => {
      const units = sum(paid.filter((one) => windowOf(one) === window).map(({ quantity }) => quantity));
      return Math.max(0, units - freeUnits) * unitAmount;
    }),
  );
  const percentage = sum([...given].map((gift) => gift.percentage));
  const periods = lived.length === 0 ? 0 : windowAt(lived.at(-1)!.end - 1) + 1;
  const amount = sum([...given].map((gift) => gift.amount * (gift.duration === 'once' ? 1 : periods)));
  return ((base + usage) * (100 - percentage)) / 100 - amount;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);
