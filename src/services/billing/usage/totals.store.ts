import { Big } from 'big.js';
import type { Sql } from '../../../db/index.ts';

/** A tenant in an app, and when its counters began that never restart. */
interface Counting {
  readonly tenant_id: string;
  readonly app_id: string;
  readonly counts_from: string;
}

/** The statements that read the counters of a tenant. */
export const totalsStore = (sql: Sql) => ({
  /** What was ever counted of some features, over all subscriptions of the tenant in the app. */
  async allTime(
    { tenant_id, app_id, counts_from }: Counting,
    featureKeys: readonly string[],
  ): Promise<Map<string, Big>> {
    const rows = await sql<{ feature_key: string; quantity: string }[]>`
      select feature_key, sum(quantity)::text as quantity
      from billing.subscription join billing.usage_total as total
        on total.tenant_id = subscription.tenant_id and subscription_id = subscription.id
      where subscription.tenant_id = ${tenant_id} and app_id = ${app_id} and segment_start >= ${counts_from}
        and feature_key = any(${[...featureKeys]}::text[])
      group by feature_key`;
    return new Map(rows.map(({ feature_key, quantity }) => [feature_key, new Big(quantity)]));
  },
});
