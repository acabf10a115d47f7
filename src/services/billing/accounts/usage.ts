import type { CustomerFeatureUsage, CustomerUsage } from '../../../../generated/billing/types.ts';
import type { CustomerRow } from '../customers/customers.store.ts';
import type { Deps } from '../deps.ts';
import type { Grant, Grants } from '../entitlements/grants.ts';
import { subscriptionStore } from '../subscriptions/subscriptions.store.ts';

/** What the tenant of a customer has used of each feature of its plan. */
export async function usageOf(
  { db, grants }: Pick<Deps, 'db'> & { readonly grants: Grants },
  { id, tenant_id, app_id }: CustomerRow,
): Promise<CustomerUsage> {
  const live = await subscriptionStore(db.sql).live(tenant_id, app_id);
  const grant = await grants.ofTenantWhole(tenant_id, app_id);
  if (live === undefined || grant === undefined)
    return { customer_id: id, period_start: null, period_end: null, usage: {} };
  return {
    customer_id: id,
    period_start: live.current_period_start,
    period_end: live.current_period_end,
    usage: Object.fromEntries(grant.plan.features.map(({ key }) => [key, usage(grant, key)])),
  };
}

function usage(grant: Grant, featureKey: string): CustomerFeatureUsage {
  const { used, limit, remaining } = grant.entitlementTo(featureKey);
  return { used, limit, remaining };
}
