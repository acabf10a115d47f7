import type { Sql } from '../../../db/index.ts';
import { newId } from '../../../lib/ids.ts';
import { type SubscriptionRow, subscriptionStore } from '../subscriptions/subscriptions.store.ts';

/** Stores a subscription without segments, for tests of parts that only need its row. */
export async function storedSubscription(
  sql: Sql,
  { tenant_id, plan_id, ...more }: Pick<SubscriptionRow, 'tenant_id' | 'plan_id'> & Partial<SubscriptionRow>,
): Promise<SubscriptionRow> {
  const at = '2026-01-10T09:00:00.000Z';
  const row: SubscriptionRow = {
    ...{
      tenant_id,
      id: newId('sub'),
      app_id: 'default',
      plan_id,
      status: 'active',
      customer_id: null,
      starts_at: at,
      anchor: at,
      window_anchor: at,
      counts_from: at,
    },
    ...{
      billing_period: 'monthly',
      current_period_start: at,
      current_period_end: '2026-02-10T09:00:00.000Z',
      trial_start: null,
    },
    ...{
      trial_end: null,
      trial_granted: null,
      cancel_at: null,
      canceled_at: null,
      ended_at: null,
      resume_at: null,
      next_action_at: null,
    },
    ...{ trial_ending_told: false, metadata: {}, created_at: at, updated_at: at },
    ...more,
  };
  await subscriptionStore(sql).insert(row);
  return row;
}
