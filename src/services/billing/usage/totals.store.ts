import { Big } from 'big.js';
import type { Sql } from '../../../db/index.ts';

/** The statements that read the counters of a subscription. */
export const totalsStore = (sql: Sql) => ({
  /** What was ever counted of some features. */
  async allTime(
    { tenant_id, id }: { readonly tenant_id: string; readonly id: string },
    featureKeys: readonly string[],
  ): Promise<Map<string, Big>> {
    const rows = await sql<{ feature_key: string; quantity: string }[]>`
      select feature_key, sum(quantity)::text as quantity from billing.usage_total
      where tenant_id = ${tenant_id} and subscription_id = ${id} and feature_key = any(${[...featureKeys]}::text[])
      group by feature_key`;
    return new Map(rows.map(({ feature_key, quantity }) => [feature_key, new Big(quantity)]));
  },
});
