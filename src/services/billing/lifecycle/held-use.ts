import { Big } from 'big.js';
import type { Feature } from '../../../../generated/billing/types.ts';
import { isRestarting } from '../plans/features.ts';
import type { PlanRevision } from '../plans/revisions.ts';
import type { SubscriptionRow } from '../subscriptions/subscriptions.store.ts';
import { totalsStore } from '../usage/totals.store.ts';
import type { Write } from '../writes.ts';

/** Whether the seats of a tenant, or other use that never restarts, exceed a hard limit of a plan. */
export async function isOverLimit(
  { sql }: Pick<Write, 'sql'>,
  tenant: Pick<SubscriptionRow, 'tenant_id' | 'app_id' | 'counts_from'>,
  { features }: Pick<PlanRevision, 'features'>,
): Promise<boolean> {
  const limited = features.filter(isHardLimit);
  if (limited.length === 0) return false;
  const used = await totalsStore(sql).allTime(
    tenant,
    limited.map(({ key }) => key),
  );
  return limited.some(({ key, limit }) => (used.get(key) ?? new Big(0)).gt(limit));
}

const isHardLimit = (feature: Feature): boolean =>
  feature.type !== 'boolean' && !isRestarting(feature) && feature.limit !== -1 && !feature.soft_limit;
