import { Big } from 'big.js';
import type {
  Feature,
  FeatureInput,
  Pricing,
  PricingInput,
  PricingTier,
  PricingTierInput,
} from '../../../../generated/billing/types.ts';
import { Refused } from '../errors.ts';
import { minorUnits, moneyOf } from '../money/money.ts';
import { featureFault, pricingFault } from './pricing-faults.ts';

/** What a plan offers and costs. A change of it makes a new revision. */
export interface Contents {
  readonly features: Feature[];
  readonly pricing: Pricing | null;
}

/** Contents as they are sent; stored ones have the same form. */
interface SentContents {
  readonly features: readonly FeatureInput[];
  readonly pricing: PricingInput | null;
}

/**
 * The contents of a plan with everything that was left out.
 * @throws `duplicate_feature` or `invalid_pricing`, naming the member
 */
export function contentsOf({ features, pricing }: SentContents, currency: string): Contents {
  const fault = featureFault(features) ?? (pricing && pricingFault(pricing, features, currency));
  if (fault) throw Refused(fault.code, `${fault.param}: ${fault.problem}`);
  return { features: features.map(featureOf), pricing: pricing && pricingOf(pricing, currency) };
}

const featureOf = ({ key, name = key, type, soft_limit, ...sent }: FeatureInput): Feature => ({
  key,
  name,
  type,
  limit: sent.limit ?? (type === 'boolean' ? 1 : -1),
  period: sent.period ?? (type === 'metered' ? 'monthly' : 'none'),
  soft_limit,
});

const pricingOf = ({ base_amount, billing_period, tiers }: PricingInput, currency: string): Pricing => ({
  base_amount: moneyOf(BigInt(base_amount?.amount ?? 0), currency),
  billing_period,
  tiers: tiers.map((tier) => tierOf(tier, currency)),
});

function tierOf(sent: PricingTierInput, currency: string): PricingTier {
  const { feature_key, type, up_to, unit_amount, unit_amount_decimal, flat_amount } = sent;
  const exact = new Big(unit_amount_decimal ?? unit_amount?.amount ?? 0);
  return {
    feature_key,
    type,
    up_to,
    unit_amount: moneyOf(minorUnits(exact), currency),
    unit_amount_decimal: exact.toFixed(),
    flat_amount: moneyOf(BigInt(flat_amount?.amount ?? 0), currency),
  };
}
