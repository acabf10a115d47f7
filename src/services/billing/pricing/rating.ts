import { Big } from 'big.js';
import type { PricingTier } from '../../../../generated/billing/types.ts';
import { minorUnits, sumOf } from '../money/money.ts';

/** What rating reads of a tier. */
export type Tier = Pick<PricingTier, 'type' | 'up_to' | 'unit_amount_decimal'> & {
  readonly flat_amount: Pick<PricingTier['flat_amount'], 'amount'>;
};

/** A line of an invoice for units of one tier: amount = quantity × unit + flat, rounded to minor units once. */
export interface Charge {
  /** The units below this line's, which earlier tiers cover. */
  readonly after: Big;
  readonly quantity: Big;
  /** Minor units per unit, exact. */
  readonly unit: Big;
  /** Minor units, once. */
  readonly flat: bigint;
  /** Minor units. */
  readonly amount: bigint;
}

const none = new Big(0);

/** The units of a feature from one count on to another; a correction counts back. */
export interface Span {
  readonly after: Big;
  readonly until: Big;
}

/** Units of a window that are priced by one price list, and what was charged by it for earlier units of the window. */
export interface Part {
  /** Where the units are among all of the window, in the order of their use. */
  readonly spans: readonly Span[];
  readonly paid: Paid;
}

/** What a price list has charged in a window. */
export interface Paid {
  /** The positions of the tiers whose flat amount was charged. */
  readonly flats: ReadonlySet<number>;
  readonly units: Big;
  /** Minor units. */
  readonly amount: bigint;
}

export const nothingPaid: Paid = { flats: new Set(), units: none, amount: 0n };

/**
 * What a quantity of a feature costs. A tier covers the units above the last unit of the tier before it, up to its own last unit.
 * Graduated: each unit costs the price of its tier, one charge for each tier that is reached. Volume: the tier of the last unit prices
 * all units. Flat: that tier's flat amount. A quantity of 0 or less costs nothing.
 *
 * @param tiers of one feature, all of one type, ascending, the last one without bound
 */
export const chargesOf = (tiers: readonly Tier[], quantity: Big): Charge[] =>
  chargesOfPart(tiers, { spans: [{ after: none, until: quantity }], paid: nothingPaid }).map(
    ({ charge }) => charge,
  );

/** A charge, and the position of its tier. */
export interface TierCharge {
  readonly tier: number;
  readonly charge: Charge;
}

/**
 * What a part of the units of a window costs: the tiers count on from the units before. With the earlier parts under its price list it
 * costs at least what all of them would cost as one.
 */
export function chargesOfPart(tiers: readonly Tier[], { spans, paid }: Part): TierCharge[] {
  if (tiers[0] === undefined) return [];
  if (tiers[0].type === 'graduated') return graduated(tiers, spans, paid.flats);
  const units = spans.reduce((sum, span) => sum.plus(unitsBetween(span, none, undefined)), none);
  if (units.lte(0)) return [];
  const last = spans.at(-1)!.until;
  const tier = tiers.findIndex(({ up_to }) => up_to === -1 || last.lte(up_to));
  const { type, unit_amount_decimal, flat_amount } = tiers[tier]!;
  const isVolume = type === 'volume';
  const unit = isVolume ? new Big(unit_amount_decimal) : none;
  const [own, all] = [units, units.plus(paid.units)].map((some) => minorUnits(some.times(unit)));
  const rest = all! + BigInt(flat_amount.amount) - paid.amount - own!;
  const flat = rest > 0n ? rest : 0n;
  // Whatever the flat amount is for was charged before.
  if (!isVolume && paid.units.gt(0) && flat === 0n) return [];
  const quantity = isVolume ? units : new Big(1);
  return [{ tier, charge: { after: none, quantity, unit, flat, amount: own! + flat } }];
}

function graduated(
  tiers: readonly Tier[],
  spans: readonly Span[],
  paidFlats: ReadonlySet<number>,
): TierCharge[] {
  const charges: TierCharge[] = [];
  const highest = spans.reduce((most, { until }) => (until.gt(most) ? until : most), none);
  let low = none;
  for (const [tier, { up_to, unit_amount_decimal, flat_amount }] of tiers.entries()) {
    if (low.gte(highest)) break;
    const high = up_to === -1 ? undefined : new Big(up_to);
    const within = spans.map((span) => unitsBetween(span, low, high));
    const quantity = within.reduce((sum, units) => sum.plus(units), none);
    if (quantity.gt(0)) {
      const first = spans[within.findIndex((units) => units.gt(0))]!.after;
      const unit = new Big(unit_amount_decimal);
      const flat = paidFlats.has(tier) ? 0n : BigInt(flat_amount.amount);
      const amount = minorUnits(quantity.times(unit)) + flat;
      charges.push({ tier, charge: { after: first.gt(low) ? first : low, quantity, unit, flat, amount } });
    }
    low = high ?? highest;
  }
  return charges;
}

/** The units of a span above one count, up to another one; negative where the span counts back. */
function unitsBetween({ after, until }: Span, low: Big, high: Big | undefined): Big {
  const within = (count: Big) => (count.lt(low) ? low : high !== undefined && count.gt(high) ? high : count);
  return within(until).minus(within(after));
}

/** The sum of the charges, in minor units. */
export const priceOf = (charges: readonly Pick<Charge, 'amount'>[]): bigint =>
  sumOf(charges.map(({ amount }) => amount));
