import type { BillingPeriod, Metadata, SubscriptionStatus } from '../../../../generated/billing/types.ts';
import type { Sql } from '../../../db/index.ts';
import { isInView, type View } from '../../../db/view.ts';
import { counted, onePage, type PageRequest, readPage } from '../pages.store.ts';

/** A subscription as it is stored. Times are texts, as in responses. */
export interface SubscriptionRow {
  readonly tenant_id: string;
  readonly id: string;
  readonly app_id: string;
  readonly plan_id: string;
  readonly status: SubscriptionStatus;
  readonly customer_id: string | null;
  readonly starts_at: string;
  readonly anchor: string;
  /** The start of one of the tenant's months, in which its monthly counters and tiers run. */
  readonly window_anchor: string;
  /** When the counters that never restart began: they go on in the tenant's next subscription. */
  readonly counts_from: string;
  readonly billing_period: BillingPeriod;
  readonly current_period_start: string;
  readonly current_period_end: string;
  readonly trial_start: string | null;
  readonly trial_end: string | null;
  /** The days of trial that the operator has granted, whatever a plan says. */
  readonly trial_granted: number | null;
  readonly cancel_at: string | null;
  readonly canceled_at: string | null;
  readonly ended_at: string | null;
  readonly resume_at: string | null;
  readonly next_action_at: string | null;
  readonly trial_ending_told: boolean;
  readonly metadata: Metadata;
  readonly created_at: string;
  readonly updated_at: string;
}

/** A subscription with the coupons that were redeemed for it. */
export interface ListedSubscription extends SubscriptionRow {
  readonly coupon_ids: string[];
}

export interface SubscriptionFilter {
  readonly status?: SubscriptionStatus | undefined;
}

/** A tenant in an app. */
export type Place = Pick<SubscriptionRow, 'tenant_id' | 'app_id'>;

export type SubscriptionChange = Partial<
  Omit<SubscriptionRow, 'tenant_id' | 'id' | 'app_id' | 'created_at' | 'updated_at'>
>;

/** Every statement about subscriptions. */
export const subscriptionStore = (sql: Sql) => ({
  /** @throws the violation of `subscription_live` when the tenant has a live one */
  async insert(row: SubscriptionRow): Promise<void> {
    await sql`insert into billing.subscription ${sql(row)}`;
  },

  async find(view: View, id: string): Promise<ListedSubscription | undefined> {
    const [row] = await sql<ListedSubscription[]>`
      select ${columns(sql)} from billing.subscription where ${isInView(sql, view)} and id = ${id}`;
    return row;
  },

  /** Locks a subscription until the end of the transaction, against every other change of it and of its invoices. */
  async lock(view: View, id: string): Promise<ListedSubscription | undefined> {
    const [locked] = await sql<{ tenant_id: string }[]>`
      select tenant_id from billing.subscription where ${isInView(sql, view)} and id = ${id} for no key update`;
    return locked && (await this.find({ ...view, tenant: locked.tenant_id }, id));
  },

  async list(view: View, { status }: SubscriptionFilter, page: PageRequest) {
    const rows = sql`
      from billing.subscription
      where ${isInView(sql, view)} ${status === undefined ? sql`` : sql`and status = ${status}`}`;
    return await readPage(
      sql<ListedSubscription[]>`select ${columns(sql)} ${rows} ${onePage(sql, page)}`,
      counted(sql, rows),
    );
  },

  /** The subscriptions of a tenant that follow one, oldest first. */
  async following({ tenant_id, app_id }: Place, after: string, most: number): Promise<ListedSubscription[]> {
    return await sql<ListedSubscription[]>`
      select ${columns(sql)} from billing.subscription
      where tenant_id = ${tenant_id} and app_id = ${app_id} and id > ${after} order by id limit ${most}`;
  },

  /** The tenant's live subscription in an app. */
  async live(tenant: string, app: string): Promise<ListedSubscription | undefined> {
    const [row] = await sql<ListedSubscription[]>`
      select ${columns(sql)} from billing.subscription
      where tenant_id = ${tenant} and app_id = ${app} and status in ('trialing', 'active', 'past_due', 'paused')`;
    return row;
  },

  /** Whether a subscription of the tenant in an app began with a trial. */
  async hadTrial(tenant: string, app: string): Promise<boolean> {
    const found = await sql`
      select from billing.subscription
      where tenant_id = ${tenant} and app_id = ${app} and trial_start is not null limit 1`;
    return found.length > 0;
  },

  /** How the counters run of the tenant's latest subscription in an app. */
  async latestCounters(
    tenant: string,
    app: string,
  ): Promise<Pick<SubscriptionRow, 'window_anchor' | 'counts_from'> | undefined> {
    const [latest] = await sql<Pick<SubscriptionRow, 'window_anchor' | 'counts_from'>[]>`
      select window_anchor, counts_from from billing.subscription
      where tenant_id = ${tenant} and app_id = ${app} order by starts_at desc limit 1`;
    return latest;
  },

  /** When the tenant's segments in an app end; null before its first one. No subscription can begin before. */
  async lastEnd(tenant: string, app: string): Promise<string | null> {
    const [{ last }] = await sql<[{ last: string | null }]>`
      select max(ends_at) as last from billing.segment where tenant_id = ${tenant} and app_id = ${app}`;
    return last;
  },

  async change(
    { tenant_id, id }: Pick<SubscriptionRow, 'tenant_id' | 'id'>,
    change: SubscriptionChange,
    at: number,
  ): Promise<void> {
    await sql`
      update billing.subscription set ${sql({ ...change, updated_at: new Date(at) })}
      where tenant_id = ${tenant_id} and id = ${id}`;
  },

  /** Looks at a subscription that is due again later. */
  async postpone({ tenant_id, id }: Pick<SubscriptionRow, 'tenant_id' | 'id'>, until: number): Promise<void> {
    await sql`
      update billing.subscription set next_action_at = ${new Date(until)}
      where tenant_id = ${tenant_id} and id = ${id} and next_action_at <= ${new Date(until)}`;
  },

  /** Subscriptions that time alone changes now, the longest due first. */
  async due(at: number, most: number): Promise<Pick<SubscriptionRow, 'tenant_id' | 'app_id' | 'id'>[]> {
    return await sql<Pick<SubscriptionRow, 'tenant_id' | 'app_id' | 'id'>[]>`
      select tenant_id, app_id, id from billing.subscription
      where next_action_at <= ${new Date(at)}
      order by next_action_at limit ${most}`;
  },
});

const columns = (sql: Sql) => sql`
  tenant_id, id, app_id, plan_id, status, customer_id, starts_at, anchor, window_anchor, counts_from, billing_period,
  current_period_start, current_period_end, trial_start, trial_end, trial_granted, cancel_at, canceled_at, ended_at, resume_at, next_action_at, trial_ending_told, metadata, created_at, updated_at,
  array(
    select coupon_id from billing.redemption
    where redemption.tenant_id = subscription.tenant_id and redemption.subscription_id = subscription.id
    order by position
  ) as coupon_ids`;
