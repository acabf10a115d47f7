import { Big } from 'big.js';
import type { FeatureInput, PricingInput, PricingTierInput } from '../../../../generated/billing/types.ts';
import { minorUnits } from '../money/money.ts';

/** What is wrong with the contents of a plan that satisfy the contract. */
export interface PlanFault {
  readonly code: 'duplicate_feature' | 'invalid_pricing';
  /** The member at fault: `pricing.tiers.0.feature_key`. */
  readonly param: string;
  readonly problem: string;
}

/** The first feature whose key another one has, or undefined. */
export function featureFault(features: readonly Pick<FeatureInput, 'key'>[]): PlanFault | undefined {
  const seen = new Set<string>();
  for (const [index, { key }] of features.entries()) {
    if (seen.has(key))
      return { code: 'duplicate_feature', param: `features.${index}.key`, problem: 'duplicate' };
    seen.add(key);
  }
  return undefined;
}

/** The first contradiction of prices among themselves or with the features and the currency of the plan, or undefined. */
export function pricingFault(
  { base_amount, tiers }: Pick<PricingInput, 'base_amount' | 'tiers'>,
  features: readonly Pick<FeatureInput, 'key' | 'type'>[],
  currency: string,
): PlanFault | undefined {
  if (base_amount !== undefined && base_amount.currency !== currency)
    return fault('pricing.base_amount.currency', `must be ${currency}`);
  const typeOf = new Map(features.map(({ key, type }) => [key, type]));
  const previous = new Map<string, { readonly tier: PricingTierInput; readonly at: number }>();
  for (const [at, tier] of tiers.entries()) {
    const path = `pricing.tiers.${at}`;
    const type = typeOf.get(tier.feature_key);
    if (type === undefined) return fault(`${path}.feature_key`, 'no such feature');
    if (type === 'boolean') return fault(`${path}.feature_key`, 'a boolean feature has no price');
    const wrong = amountFault(tier, currency) ?? orderFault(tier, previous.get(tier.feature_key)?.tier);
    if (wrong !== undefined) return fault(`${path}.${wrong.member}`, wrong.problem);
    previous.set(tier.feature_key, { tier, at });
  }
  const bounded = [...previous.values()].find(({ tier }) => tier.up_to !== -1);
  return bounded && fault(`pricing.tiers.${bounded.at}.up_to`, 'must be -1 in the last tier of a feature');
}

const fault = (param: string, problem: string): PlanFault => ({ code: 'invalid_pricing', param, problem });

interface MemberFault {
  readonly member: string;
  readonly problem: string;
}

function amountFault(
  { type, unit_amount, unit_amount_decimal, flat_amount }: PricingTierInput,
  currency: string,
): MemberFault | undefined {
  if (unit_amount !== undefined && unit_amount.currency !== currency)
    return { member: 'unit_amount.currency', problem: `must be ${currency}` };
  if (flat_amount !== undefined && flat_amount.currency !== currency)
    return { member: 'flat_amount.currency', problem: `must be ${currency}` };
  const exact = unit_amount_decimal === undefined ? undefined : new Big(unit_amount_decimal);
  if (exact !== undefined && unit_amount !== undefined && minorUnits(exact) !== BigInt(unit_amount.amount))
    return { member: 'unit_amount', problem: 'must be unit_amount_decimal, rounded half up' };
  const isPriced = exact?.gt(0) ?? (unit_amount?.amount ?? 0) > 0;
  if (type === 'flat' && isPriced)
    return { member: 'unit_amount', problem: 'a flat tier has no price for a unit' };
  return undefined;
}

function orderFault(
  { type, up_to }: PricingTierInput,
  before: PricingTierInput | undefined,
): MemberFault | undefined {
  if (up_to === 0) return { member: 'up_to', problem: 'must be -1 or at least 1' };
  if (before === undefined) return undefined;
  if (before.type !== type) return { member: 'type', problem: 'must be the same in all tiers of a feature' };
  if (before.up_to === -1) return { member: 'up_to', problem: 'follows a tier without bound' };
  if (up_to !== -1 && up_to <= before.up_to)
    return { member: 'up_to', problem: 'must be more than in the tier before' };
  return undefined;
}
