import { Big } from 'big.js';
import type { Feature, PlanChange } from '../../../../generated/billing/types.ts';
import { PlanNotFound, Refused } from '../errors.ts';
import { planChange } from '../periods/course.ts';
import { isRestarting } from '../plans/features.ts';
import { planStore } from '../plans/plans.store.ts';
import { type PlanRevision, termsOf } from '../plans/revisions.ts';
import { planChangeRefusal, type ComparedPlan } from '../subscriptions/plan-change.ts';
import { nextStatus } from '../subscriptions/states.ts';
import { subscriptionOf } from '../subscriptions/subscription.ts';
import type { ListedSubscription } from '../subscriptions/subscriptions.store.ts';
import { totalsStore } from '../usage/totals.store.ts';
import type { Write } from '../writes.ts';
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
  const course = planChange(to.terms, position, prorate);
  const endsPeriod = position.current.kind === 'paid' && to.terms.interval !== row.billing_period;
  const period = periodMembers(course, at);
  const cancel_at = endOfCanceled(row, period.current_period_end);
  await follow(tx, { ...row, cancel_at }, at, course.segments);
  const after = await changed(
    tx,
    row,
    { plan_id, billing_period: to.terms.interval, ...period, cancel_at },
    now,
  );
  if (endsPeriod) await invoicePeriod(tx, deps, after, { start: position.current.period.start, end: at });
  tx.emit('billing.subscription.plan_changed', after, {
    ...subscriptionOf(after),
    previous: { plan_id: row.plan_id },
  });
  return after;
}

/** A subscription that is to end with its period ends with a shorter one that begins now, and never later than was said. */
const endOfCanceled = ({ cancel_at }: ListedSubscription, periodEnd: string | undefined): string | null =>
  cancel_at !== null && periodEnd !== undefined && periodEnd < cancel_at ? periodEnd : cancel_at;

const compared = (plan: PlanRevision, status: ComparedPlan['status']): ComparedPlan => {
  const { planId, interval, base } = termsOf(plan);
  return { planId, status, currency: plan.currency, interval, base };
};

/** Whether seats or other use that never restarts exceed a hard limit of the plan. */
async function isOverLimit(
  { sql }: Pick<Write, 'sql'>,
  row: ListedSubscription,
  { features }: Pick<PlanRevision, 'features'>,
): Promise<boolean> {
  const limited = features.filter(isHardLimit);
  if (limited.length === 0) return false;
  const used = await totalsStore(sql).allTime(
    row,
    limited.map(({ key }) => key),
  );
  return limited.some(({ key, limit }) => (used.get(key) ?? new Big(0)).gt(limit));
}

const isHardLimit = (feature: Feature): boolean =>
  feature.type !== 'boolean' && !isRestarting(feature) && feature.limit !== -1 && !feature.soft_limit;
