import type { SubscriptionStatus } from '../../../../generated/billing/types.ts';
import type { Fragment, Sql } from '../../../db/index.ts';
import { isInView, type View } from '../../../db/view.ts';

/**
 * How a subscription stands at a time, and what its tenant has used of one of the features asked for, over all its subscriptions in the app;
 * without use, those are null.
 */
export interface GrantRow {
  /** For which of those who asked. */
  readonly nth: number;
  readonly tenant_id: string;
  readonly id: string;
  readonly status: SubscriptionStatus;
  /** When the counters that never restart began. */
  readonly counts_from: string;
  readonly plan_id: string;
  /** The plan's current revision, whose limits count at once. */
  readonly revision: number;
  readonly window_start: string;
  readonly window_end: string;
  /** Whether the segment from which the window is covers the time. False when it has ended and no later one has begun. */
  readonly is_covered: boolean;
  readonly feature_key: string | null;
  /** Exact sums. */
  readonly in_window: string | null;
  readonly of_all_time: string | null;
}

/** A look at the live subscription of a tenant, and at what the tenant has used of features. */
export interface WantedGrant {
  readonly tenant: string;
  readonly app: string;
  readonly featureKeys: readonly string[];
}

/** The statement behind checks. */
export const grantStore = (sql: Sql) => {
  /** `subscription` selects the columns of subscriptions, the keys of features as `feature_keys`, and for whom they are as `nth`. */
  const read = (subscription: Fragment, at: number) => sql<GrantRow[]>`
    select subscription.nth, subscription.tenant_id, subscription.id, subscription.status, subscription.counts_from, subscription.plan_id,
      plan.revision,
      coalesce(segment.window_start, current_period_start) as window_start,
      coalesce(segment.window_end, current_period_end) as window_end,
      coalesce(segment.ends_at > ${new Date(at)}, false) as is_covered,
      total.feature_key, total.in_window, total.of_all_time
    from (${subscription}) as subscription
    join billing.plan on plan.app_id = subscription.app_id and plan.id = subscription.plan_id
    left join lateral (
      select window_start, window_end, ends_at from billing.segment
      where segment.tenant_id = subscription.tenant_id and subscription_id = subscription.id and segment.starts_at <= ${new Date(at)}
      order by segment.starts_at desc limit 1
    ) as segment on true
    left join lateral (
      select feature_key, sum(quantity) as of_all_time,
        coalesce(sum(quantity) filter (where usage_total.window_start = segment.window_start), 0) as in_window
      from billing.subscription as own
      join billing.usage_total on usage_total.tenant_id = own.tenant_id and subscription_id = own.id
        and feature_key = any(subscription.feature_keys) and segment_start >= subscription.counts_from
      where own.tenant_id = subscription.tenant_id and own.app_id = subscription.app_id
      group by feature_key
    ) as total on true`;
  const columns = sql`tenant_id, id, app_id, status, counts_from, plan_id, current_period_start, current_period_end`;
  return {
    /**
     * The live subscriptions of tenants: for each that is wanted and exists, a row for each of its features that has been used, and at
     * least one. `nth` counts what is wanted from 1.
     */
    ofTenants: (wanted: readonly WantedGrant[], at: number) =>
      read(
        sql`
          select ${columns}, string_to_array(keys, ' ') as feature_keys, nth
          from unnest(
            ${wanted.map(({ tenant }) => tenant)}::text[], ${wanted.map(({ app }) => app)}::text[],
            ${wanted.map(({ featureKeys }) => featureKeys.join(' '))}::text[]
          ) with ordinality as wanted (tenant, app, keys, nth)
          join billing.subscription on tenant_id = tenant and app_id = app
            and status in ('trialing', 'active', 'past_due', 'paused')`,
        at,
      ),

    /** A subscription, whether it is live or not. */
    ofSubscription: (view: View, id: string, at: number, featureKeys: readonly string[]) =>
      read(
        sql`
          select ${columns}, ${[...featureKeys]}::text[] as feature_keys, 1 as nth
          from billing.subscription where ${isInView(sql, view)} and id = ${id}`,
        at,
      ),

    /** The tenant of a customer that is not deleted. */
    async tenantOf(view: View, customerId: string): Promise<string | undefined> {
      const [row] = await sql<{ tenant_id: string }[]>`
        select tenant_id from billing.customer where ${isInView(sql, view)} and id = ${customerId} and deleted_at is null`;
      return row?.tenant_id;
    },
  };
};
