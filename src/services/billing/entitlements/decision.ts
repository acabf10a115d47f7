import { Big } from 'big.js';
import type { EntitlementResult, Feature } from '../../../../generated/billing/types.ts';
import { shownQuantity } from '../money/quantities.ts';
import { isRestarting } from '../plans/features.ts';

export interface FeatureUse {
  /** What counts against the limit: of the window or, for a feature that never restarts, of all time. */
  readonly used: Big;
  /** When the count restarts. */
  readonly resetsAt: string | null;
}

/** Decides about a feature of the plan of a tenant that has a live subscription which is not paused. */
export function entitlement(
  featureKey: string,
  feature: Feature | undefined,
  { used, resetsAt }: FeatureUse,
  quantity: Big,
): EntitlementResult {
  if (feature === undefined) return { ...notInPlan, feature: featureKey };
  const { type, limit, soft_limit } = feature;
  const about = { feature: featureKey, limit, soft_limit, type };
  if (type === 'boolean') {
    const common = { ...about, used: 0, over_limit: false, resets_at: null };
    if (limit === 0) return { ...common, allowed: false, remaining: 0, reason: 'feature_disabled' };
    return { ...common, allowed: true, remaining: 1 };
  }
  const common = { ...about, used: shownQuantity(used), resets_at: isRestarting(feature) ? resetsAt : null };
  if (limit === -1) return { ...common, allowed: true, remaining: -1, over_limit: false };
  const remaining = shownQuantity(remainder(limit, used));
  if (used.plus(quantity).lte(limit)) return { ...common, allowed: true, remaining, over_limit: false };
  if (soft_limit) return { ...common, allowed: true, remaining, over_limit: true };
  return { ...common, allowed: false, remaining, over_limit: false, reason: 'quota_exceeded' };
}

const notInPlan = {
  allowed: false,
  used: 0,
  limit: 0,
  remaining: 0,
  soft_limit: false,
  type: null,
  over_limit: false,
  resets_at: null,
  reason: 'feature_not_in_plan',
} as const;

const zero = new Big(0);

function remainder(limit: number, used: Big): Big {
  const rest = new Big(limit).minus(used);
  return rest.lt(zero) ? zero : rest;
}
