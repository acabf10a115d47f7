import type { Entitlements } from '../../../../generated/billing/server.ts';
import type { Allowance, Entitlement } from '../../../../generated/billing/types.ts';
import type { Context } from '../../../http/context.ts';
import { viewOf } from '../../../http/view.ts';
import { Invalid } from '../../../lib/errors.ts';
import type { Deps } from '../deps.ts';
import { CustomerNotFound, Refused } from '../errors.ts';
import { quantityFault, quantityOf } from '../money/quantities.ts';
import type { Grant, Grants } from './grants.ts';
import { grantStore } from './grants.store.ts';

export type EntitlementDeps = Pick<Deps, 'db' | 'revisions'> & { readonly grants: Grants };

/** Entitlements: what a tenant may use under its plan. */
export const entitlements = ({ db, revisions, grants }: EntitlementDeps) => {
  /** @throws DomainError when the tenant may use nothing */
  const grantOf = async (
    { app }: Context,
    tenant: string,
    featureKeys: readonly string[],
  ): Promise<Grant> => {
    const grant = await grants.ofTenant(tenant, app, featureKeys);
    if (grant === undefined || grant.status === 'paused') throw NoActiveSubscription();
    return grant;
  };

  const tenantOf = async (context: Context, customerId: string): Promise<string> => {
    const tenant = await grantStore(db.sql).tenantOf(viewOf(context), customerId);
    if (tenant === undefined) throw CustomerNotFound();
    return tenant;
  };

  return {
    async check({ body: { feature_key, quantity, tenant_id } }, context) {
      const fault = quantityFault(quantity);
      if (fault !== undefined) throw Invalid(`quantity: ${fault}`);
      const grant = await grantOf(context, tenant_id ?? context.tenant, [feature_key]);
      return grant.entitlementTo(feature_key, quantityOf(quantity));
    },

    async checkBatch({ body: { feature_keys, tenant_id } }, context) {
      const grant = await grantOf(context, tenant_id ?? context.tenant, feature_keys);
      return { results: Object.fromEntries(feature_keys.map((key) => [key, allowance(grant, key)])) };
    },

    async list({ customerId }, context) {
      const tenant = await tenantOf(context, customerId);
      const nothing = { customer_id: customerId, plan: null, plan_id: null, entitlements: [] };
      const grant = await grants.ofTenantWhole(tenant, context.app);
      if (grant === undefined) return nothing;
      const { slug, planId, features } = grant.plan;
      return {
        ...nothing,
        plan: slug,
        plan_id: planId,
        entitlements: features.map((one) => listed(grant, one.key)),
      };
    },

    async invalidate({ customerId }, context) {
      const tenant = await tenantOf(context, customerId);
      const grant = await grants.ofTenant(tenant, context.app, []);
      if (grant !== undefined) revisions.forget(context.app, grant.plan.planId);
    },
  } satisfies Entitlements<Context>;
};

const NoActiveSubscription = () =>
  Refused('no_active_subscription', 'tenant has no active subscription', { kind: 'forbidden' });

function allowance(grant: Grant, featureKey: string): Allowance {
  const { allowed, used, limit, remaining } = grant.entitlementTo(featureKey);
  return { allowed, used, limit, remaining };
}

/** While a subscription is paused, nothing of its plan may be used. */
function listed(grant: Grant, featureKey: string): Entitlement {
  const { allowed, ...rest } = allowance(grant, featureKey);
  const { type } = grant.featureOf(featureKey)!;
  return { feature: featureKey, allowed: allowed && grant.status !== 'paused', ...rest, type };
}
