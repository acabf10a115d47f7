/** Set-up for the tests of the meter and of entitlements: tenants with a subscription, made through the SDK on the mock and on the server. */
import { randomBytes } from 'node:crypto';
import type { Subscription, UsageEventCreate } from '../../generated/billing/types.ts';
import type { Api, Tenant } from '../harness.ts';

/** Well-formed ids that name nothing. */
export const nobody = {
  customer: 'cus_01h455vb4pex5vsknk084sn0zz',
  event: 'uevt_01h455vb4pex5vsknk084sn0zz',
  subscription: 'sub_01h455vb4pex5vsknk084sn0zz',
} as const;

/** A new tenant with a subscription to a plan that has 1000 calls a month. */
export async function subscriber(api: Api): Promise<{ tenant: Tenant; subscription: Subscription }> {
  const tenant = api.tenant();
  const plan = await api.operator().plinth.billing.plans.create({
    body: {
      name: `t${randomBytes(6).toString('hex')}`,
      currency: 'usd',
      features: [{ key: 'api_calls', limit: 1_000 }],
    },
  });
  const subscription = await tenant.plinth.billing.subscriptions.create({
    body: { tenant_id: tenant.id, plan_id: plan.id },
  });
  return { tenant, subscription };
}

/** Records a usage event and returns its id. */
export async function used({ plinth }: Tenant, more: Partial<UsageEventCreate> = {}): Promise<string> {
  const { id } = await plinth.billing.meter.record({ body: { feature_key: 'api_calls', ...more } });
  return id;
}
