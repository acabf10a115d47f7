import type { SubscriptionCreate } from '../../../../generated/billing/types.ts';
import type { Context } from '../../../http/context.ts';
import { Forbidden, Invalid } from '../../../lib/errors.ts';
import { newId } from '../../../lib/ids.ts';
import { momentText } from '../../../lib/moments.ts';
import { CustomerNotFound, PlanNotFound, Refused } from '../errors.ts';
import { periodAt } from '../periods/calendar.ts';
import { beginning } from '../periods/course.ts';
import { segmentAt } from '../periods/segments.ts';
import { planStore, type SubscribablePlan } from '../plans/plans.store.ts';
import { subscriptionOf } from '../subscriptions/subscription.ts';
import {
  type ListedSubscription,
  type SubscriptionRow,
  subscriptionStore,
} from '../subscriptions/subscriptions.store.ts';
import type { Write } from '../writes.ts';
import { isOverLimit } from './held-use.ts';
import { payersStore } from './payers.store.ts';
import { advance, type LifecycleDeps } from './renewals.ts';
import { follow, nextAction, termsAt } from './standing.ts';

const dayMs = 86_400_000;
/** How long ago a subscription may have begun. */
const mostBackdatedMs = 366 * dayMs;

/** Subscribes a tenant, from now or, for the operator, from an earlier time: then the periods that have ended since are billed. */
export async function subscribe(
  tx: Write,
  deps: LifecycleDeps,
  context: Context,
  body: SubscriptionCreate,
): Promise<ListedSubscription> {
  const { tenant_id } = body;
  const { app } = context;
  const now = deps.clock.now();
  const plan = await planStore(tx.sql).lockForSubscription(app, body.plan_id);
  if (plan === undefined || (plan.status === 'draft' && !context.operator)) throw PlanNotFound();
  if (plan.status === 'archived') throw Refused('plan_archived', 'plan is archived');
  if (plan.status === 'draft') throw Invalid('plan_id: plan is a draft');
  await checkCustomer(tx, app, body, plan);
  const hadTrial = await subscriptionStore(tx.sql).hadTrial(tenant_id, app);
  const trialDays = trialDaysOf(body, { plan, hadTrial }, context);
  const start = await startOf(tx, context, body, now);
  const { plan: revision, terms } = await termsAt(tx.sql, deps, { app, planId: plan.id, at: start });
  const { counts_from, windowAnchor } = await countersFor(tx, body, app, start);
  // As in a change of the plan, except for the operator, who may know that the seats are no longer held.
  if (!context.operator && (await isOverLimit(tx, { tenant_id, app_id: app, counts_from }, revision)))
    throw Invalid('plan_id: more is in use than the plan allows');
  const course = beginning(terms, { start, trialEnd: start + trialDays * dayMs, windowAnchor });
  const period = segmentAt(course.segments, start)!.period;
  const isTrial = trialDays > 0;
  const created: SubscriptionRow = {
    tenant_id,
    id: newId('sub', now),
    app_id: app,
    plan_id: plan.id,
    status: isTrial ? 'trialing' : 'active',
    customer_id: body.customer_id,
    starts_at: momentText(start),
    anchor: momentText(course.anchor),
    window_anchor: momentText(course.windowAnchor),
    counts_from,
    billing_period: terms.interval,
    current_period_start: momentText(period.start),
    current_period_end: momentText(period.end),
    trial_start: isTrial ? momentText(start) : null,
    trial_end: isTrial ? momentText(course.anchor) : null,
    trial_granted: isTrial && context.operator ? (body.trial_days ?? null) : null,
    cancel_at: null,
    canceled_at: null,
    ended_at: null,
    resume_at: null,
    next_action_at: null,
    trial_ending_told: false,
    metadata: body.metadata,
    created_at: momentText(now),
    updated_at: momentText(now),
  };
  const stored = { ...created, next_action_at: nextAction(created) };
  await subscriptionStore(tx.sql).insert(stored);
  const row = { ...stored, coupon_ids: [] };
  await follow(tx, row, start, course.segments);
  tx.emit('billing.subscription.created', row, subscriptionOf(row));
  return await advance(tx, deps, row);
}

async function checkCustomer(
  { sql }: Pick<Write, 'sql'>,
  app: string,
  { tenant_id, customer_id }: SubscriptionCreate,
  { currency }: SubscribablePlan,
): Promise<void> {
  if (customer_id === null) return;
  const customer = await payersStore(sql).keep(tenant_id, app, customer_id);
  if (customer === undefined) throw CustomerNotFound();
  if (customer.currency !== currency)
    throw Invalid(`customer_id: is billed in ${customer.currency}, the plan in ${currency}`);
}

/** The plan's trial is for tenants that have had none. Only the operator grants another one, and only if he says so. */
function trialDaysOf(
  { status, trial_days }: SubscriptionCreate,
  { plan, hadTrial }: { readonly plan: SubscribablePlan; readonly hadTrial: boolean },
  { operator }: Pick<Context, 'operator'>,
): number {
  const isWanted = status === 'trialing' || (trial_days ?? 0) > 0;
  if (hadTrial && !isWanted) return 0;
  if (hadTrial && !operator)
    throw Forbidden(
      `${trial_days === undefined ? 'status' : 'trial_days'}: the tenant has had its trial, and only the operator grants another`,
    );
  const days = trial_days ?? plan.trial_days;
  if (days > plan.trial_days && !operator)
    throw Forbidden(`trial_days: only the operator grants more than the ${plan.trial_days} of the plan`);
  if (status === 'active') return 0;
  if (status === 'trialing' && days === 0) throw Invalid('status: a trial needs trial_days');
  return days;
}

/**
 * The counters of the tenant go on in its next subscription: otherwise what is free or allowed in a month would be so again with each one.
 * Its months begin anew when it has not paid for any yet, and when the year of months has passed in which the last subscription ended.
 */
async function countersFor(
  { sql }: Pick<Write, 'sql'>,
  { tenant_id }: Pick<SubscriptionCreate, 'tenant_id'>,
  app: string,
  start: number,
): Promise<{ readonly counts_from: string; readonly windowAnchor: number | undefined }> {
  const store = subscriptionStore(sql);
  const [latest, lastEnd] = [await store.latestCounters(tenant_id, app), await store.lastEnd(tenant_id, app)];
  if (latest === undefined || lastEnd === null)
    return { counts_from: momentText(start), windowAnchor: undefined };
  const [anchor, end] = [Date.parse(latest.window_anchor), Date.parse(lastEnd)];
  const goesOn = anchor < end && start < periodAt(anchor, 'yearly', end - 1).end;
  return { counts_from: latest.counts_from, windowAnchor: goesOn ? anchor : undefined };
}

async function startOf(
  { sql }: Pick<Write, 'sql'>,
  { operator, app }: Pick<Context, 'operator' | 'app'>,
  { tenant_id, starts_at }: SubscriptionCreate,
  now: number,
): Promise<number> {
  const store = subscriptionStore(sql);
  if ((await store.live(tenant_id, app)) !== undefined)
    throw Refused('subscription_exists', 'tenant has a live subscription', { kind: 'conflict' });
  const last = await store.lastEnd(tenant_id, app);
  const free = last === null ? 0 : Date.parse(last);
  if (starts_at === undefined) return Math.max(now, free);
  if (!operator) throw Forbidden('starts_at: only the operator names another time than now');
  const start = Date.parse(starts_at);
  if (start > now) throw Invalid('starts_at: must not be in the future');
  if (start < now - mostBackdatedMs) throw Invalid('starts_at: must be at most 366 days ago');
  if (start < free) throw Invalid(`starts_at: the tenant had another subscription until ${momentText(free)}`);
  return start;
}
