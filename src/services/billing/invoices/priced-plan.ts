import type { PlanRevision } from '../plans/revisions.ts';
import type { Tier } from '../pricing/rating.ts';
import type { PricedPlan } from './owed.ts';

/** What invoices need to know of a revision. The name is that of the plan, which changes without a revision. */
export const pricedPlan = ({ planId, revision, features, pricing }: PlanRevision, name: string): PricedPlan => ({
  planId,
  revision,
  name,
  features,
  tiers: Map.groupBy<string, Tier>(pricing?.tiers ?? [], (tier) => (tier as { feature_key: string }).feature_key),
});
