import type { Entitlements } from '../../../../generated/billing/server.ts';
import type { Allowance, Entitlement } from '../../../../generated/billing/types.ts';
import type { Context } from '../../../http/context.ts';
import { viewOf } from '../../../http/view.ts';
import { Invalid } from '../../../lib/errors.ts';
import type { Deps } from '../deps.ts';
import { CustomerNotFound, Refused } from '../errors.ts';
import { quantityFault, quantityOf } from '../money/quantities.ts';
import type { Standing, Standings } from './standing.ts';
import { standingStore } from './standing.store.ts';

export type EntitlementDeps = Pick<Deps, 'db' | 'revisions'> & { readonly standings: Standings };

/** Entitlements: what a tenant may use under its plan. */
export const entitlements = ({ db, revisions, standings }: EntitlementDeps) => {
  /** @throws DomainError when the tenant may use nothing */
  const standingOf = async (
    { app }: Context,
    tenant: string,
    featureKeys: readonly string[],
  ): Promise<Standing> => {
    const standing = await standings.ofTenant(tenant, app, featureKeys);
    if (standing === undefined || standing.status === 'paused') throw NoActiveSubscription();
    return standing;
  };

  const tenantOf = async (context: Context, customerId: string): Promise<string> => {
    const tenant = await standingStore(db.sql).tenantOf(viewOf(context), customerId);
    if (tenant === undefined) throw CustomerNotFound();
    return tenant;
  };

  return {
    async check({ body: { feature_key, quantity, tenant_id } }, context) {
      const fault = quantityFault(quantity);
      if (fault !== undefined) throw Invalid(`quantity: ${fault}`);
      const standing = await standingOf(context, tenant_id ?? context.tenant, [feature_key]);
      return standing.entitlementTo(feature_key, quantityOf(quantity));
    },

    async checkBatch({ body: { feature_keys, tenant_id } }, context) {
      const standing = await standingOf(context, tenant_id ?? context.tenant, feature_keys);
      return { results: Object.fromEntries(feature_keys.map((key) => [key, allowance(standing, key)])) };
    },

    async list({ customerId }, context) {
      const tenant = await tenantOf(context, customerId);
      const nothing = { customer_id: customerId, plan: null, plan_id: null, entitlements: [] };
      const keys = (await standings.ofTenant(tenant, context.app, []))?.plan.features.map(({ key }) => key);
      const standing = keys && (await standings.ofTenant(tenant, context.app, keys));
      if (standing === undefined) return nothing;
      const { slug, planId, features } = standing.plan;
      return {
        ...nothing,
        plan: slug,
        plan_id: planId,
        entitlements: features.map((one) => listed(standing, one.key)),
      };
    },

    async invalidate({ customerId }, context) {
      const tenant = await tenantOf(context, customerId);
      const standing = await standings.ofTenant(tenant, context.app, []);
      if (standing !== undefined) revisions.forget(context.app, standing.plan.planId);
    },
  } satisfies Entitlements<Context>;
};

const NoActiveSubscription = () =>
  Refused('no_active_subscription', 'tenant has no active subscription', { kind: 'forbidden' });

function allowance(standing: Standing, featureKey: string): Allowance {
  const { allowed, used, limit, remaining } = standing.entitlementTo(featureKey);
  return { allowed, used, limit, remaining };
}

/** While a subscription is paused, nothing of its plan may be used. */
function listed(standing: Standing, featureKey: string): Entitlement {
  const { allowed, ...rest } = allowance(standing, featureKey);
  const { type } = standing.featureOf(featureKey)!;
  return { feature: featureKey, allowed: allowed && standing.status !== 'paused', ...rest, type };
}
