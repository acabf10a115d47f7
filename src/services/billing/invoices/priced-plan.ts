import type { PlanRevision } from '../plans/revisions.ts';
import type { PricedPlan } from './owed.ts';

/** What invoices need to know of a revision. The name is that of the plan, which changes without a revision. */
export const pricedPlan = (
  { planId, revision, features, pricing }: PlanRevision,
  name: string,
): PricedPlan => ({
  planId,
  revision,
  name,
  interval: pricing?.billing_period ?? 'monthly',
  features,
  tiers: Map.groupBy(pricing?.tiers ?? [], ({ feature_key }) => feature_key),
});
