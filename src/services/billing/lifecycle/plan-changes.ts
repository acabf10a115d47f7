import type { PlanChange } from '../../../../generated/billing/types.ts';
import { momentText } from '../../../lib/moments.ts';
import { PlanNotFound, Refused } from '../errors.ts';
import { planChange, trialChange } from '../periods/course.ts';
import { planStore, type SubscribablePlan } from '../plans/plans.store.ts';
import { type PlanRevision, termsOf } from '../plans/revisions.ts';
import { planChangeRefusal, type ComparedPlan } from '../subscriptions/plan-change.ts';
import { nextStatus } from '../subscriptions/states.ts';
import { subscriptionOf } from '../subscriptions/subscription.ts';
import type { ListedSubscription } from '../subscriptions/subscriptions.store.ts';
import type { Write } from '../writes.ts';
import { isOverLimit } from './held-use.ts';
import { invoicePeriod, type LifecycleDeps } from './renewals.ts';
import {
  changed,
  checkRoom,
  cuttableFrom,
  follow,
  periodMembers,
  positionOf,
  standingOf,
  termsAt,
} from './standing.ts';

const dayMs = 86_400_000;

const messages = {
  subscription_not_active: 'subscription is neither active nor trialing',
  plan_not_active: 'plan is not active',
  currency_mismatch: 'plan is in another currency',
  usage_over_limit: 'more is in use than the plan allows',
};

/** Changes the plan of a locked subscription now. A plan with other periods ends the running one, which is invoiced. */
export async function changePlan(
  tx: Write,
  deps: LifecycleDeps,
  row: ListedSubscription,
  { plan_id, prorate, seesDrafts }: PlanChange & { readonly seesDrafts: boolean },
): Promise<ListedSubscription> {
  const { sql } = tx;
  const now = deps.clock.now();
  const target = await planStore(sql).lockForSubscription(row.app_id, plan_id);
  if (target === undefined || (target.status === 'draft' && !seesDrafts)) throw PlanNotFound();
  if (row.plan_id === plan_id && nextStatus(row.status, 'changePlan') !== undefined) return row;
  const [from, to] = await Promise.all([
    termsAt(sql, deps, { app: row.app_id, planId: row.plan_id, at: now }),
    termsAt(sql, deps, { app: row.app_id, planId: plan_id, at: now }),
  ]);
  const refusal = planChangeRefusal(
    row.status,
    compared(from.plan, 'active'),
    compared(to.plan, target.status),
    await isOverLimit(tx, row, to.plan),
  );
  if (refusal !== undefined)
    throw Refused(refusal.code, messages[refusal.reason], { about: { reason: refusal.reason } });
  const standing = await standingOf(sql, row, now);
  checkRoom(standing);
  const at = cuttableFrom(standing, now);
  const position = positionOf(standing, at);
  const isTrial = position.current.kind === 'trial';
  const course = isTrial
    ? trialChange(to.terms, position, trialEnd(row, target))
    : planChange(to.terms, position, prorate);
  const endsTrial = isTrial && course.anchor === at;
  const endsPeriod = !isTrial && to.terms.interval !== row.billing_period;
  const period = periodMembers(course, at);
  const cancel_at = endOfCanceled(row, period.current_period_end);
  await follow(tx, { ...row, cancel_at }, at, course.segments);
  const after = await changed(
    tx,
    row,
    {
      ...{ plan_id, billing_period: to.terms.interval, ...period, cancel_at },
      ...(isTrial && { trial_end: momentText(course.anchor) }),
      ...(endsTrial && { status: 'active' as const }),
    },
    now,
  );
  if (endsPeriod) await invoicePeriod(tx, deps, after, { start: position.current.period.start, end: at });
  tx.emit('billing.subscription.plan_changed', after, {
    ...subscriptionOf(after),
    previous: { plan_id: row.plan_id },
  });
  if (endsTrial) tx.emit('billing.subscription.activated', after, subscriptionOf(after));
  return after;
}

/** Until when a trial goes on under another plan: the days of that plan or of the operator, and never more than it has already. */
function trialEnd(
  { trial_start, trial_end, trial_granted }: ListedSubscription,
  { trial_days }: Pick<SubscribablePlan, 'trial_days'>,
): number {
  const days = Math.max(trial_days, trial_granted ?? 0);
  return Math.min(Date.parse(trial_end!), Date.parse(trial_start!) + days * dayMs);
}

/** A subscription that is to end with its period ends with a shorter one that begins now, and never later than was said. */
const endOfCanceled = ({ cancel_at }: ListedSubscription, periodEnd: string | undefined): string | null =>
  cancel_at !== null && periodEnd !== undefined && periodEnd < cancel_at ? periodEnd : cancel_at;

const compared = (plan: PlanRevision, status: ComparedPlan['status']): ComparedPlan => {
  const { planId, interval, base } = termsOf(plan);
  return { planId, status, currency: plan.currency, interval, base };
};
