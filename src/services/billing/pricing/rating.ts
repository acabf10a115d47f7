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

/**
 * What a quantity of a feature costs. A tier covers the units above the last unit of the tier before it, up to its own last unit.
 * Graduated: each unit costs the price of its tier, one charge for each tier that is reached. Volume: the tier of the last unit prices
 * all units. Flat: that tier's flat amount. A quantity of 0 or less costs nothing.
 *
 * @param tiers of one feature, all of one type, ascending, the last one without bound
 */
export function chargesOf(tiers: readonly Tier[], quantity: Big): Charge[] {
  if (quantity.lte(0)) return [];
  const reached: { tier: Tier; after: Big; until: Big }[] = [];
  for (const tier of tiers) {
    const after = reached.at(-1)?.until ?? none;
    if (after.gte(quantity)) break;
    const isLast = tier.up_to === -1 || quantity.lte(tier.up_to);
    reached.push({ tier, after, until: isLast ? quantity : new Big(tier.up_to) });
  }
  const last = reached.at(-1);
  if (last === undefined) return [];
  if (last.tier.type === 'graduated')
    return reached.map(({ tier, after, until }) => charge(tier, after, until.minus(after)));
  return [last.tier.type === 'volume' ? charge(last.tier, none, quantity) : flatCharge(last.tier)];
}

/** The sum of the charges, in minor units. */
export const priceOf = (charges: readonly Charge[]): bigint => sumOf(charges.map(({ amount }) => amount));

function charge({ unit_amount_decimal, flat_amount }: Tier, after: Big, quantity: Big): Charge {
  const unit = new Big(unit_amount_decimal);
  const flat = BigInt(flat_amount.amount);
  const amount = minorUnits(quantity.times(unit)) + flat;
  return { after, quantity, unit, flat, amount };
}

function flatCharge({ flat_amount }: Tier): Charge {
  const flat = BigInt(flat_amount.amount);
  return { after: none, quantity: new Big(1), unit: none, flat, amount: flat };
}
