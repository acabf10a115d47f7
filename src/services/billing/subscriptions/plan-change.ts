import type {
  BillingPeriod,
  PlanChangeRefusal,
  PlanStatus,
  SubscriptionStatus,
} from '../../../../generated/billing/types.ts';
import { nextStatus } from './states.ts';

/** What a plan change compares of two plans. */
export interface ComparedPlan {
  readonly planId: string;
  readonly status: PlanStatus;
  readonly currency: string;
  readonly interval: BillingPeriod;
  /** Minor units for a period. */
  readonly base: bigint;
}

const monthsOf: Record<BillingPeriod, bigint> = { monthly: 1n, yearly: 12n };

/** Whether a plan has the lower base price for a month, compared without dividing. */
export const isCheaper = (plan: ComparedPlan, than: ComparedPlan): boolean =>
  plan.base * monthsOf[than.interval] < than.base * monthsOf[plan.interval];

/**
 * Why a subscription cannot change to a plan, or undefined if it can.
 *
 * @param isOverLimit whether seats or other use that never restarts exceed a hard limit of the plan
 */
export function planChangeRefusal(
  status: SubscriptionStatus,
  from: ComparedPlan,
  to: ComparedPlan,
  isOverLimit: boolean,
):
  { readonly code: 'invalid_upgrade' | 'invalid_downgrade'; readonly reason: PlanChangeRefusal } | undefined {
  const reason = reasonAgainst(status, from, to, isOverLimit);
  if (reason === undefined) return undefined;
  return { code: isCheaper(to, from) ? 'invalid_downgrade' : 'invalid_upgrade', reason };
}

function reasonAgainst(
  status: SubscriptionStatus,
  from: ComparedPlan,
  to: ComparedPlan,
  isOverLimit: boolean,
): PlanChangeRefusal | undefined {
  if (nextStatus(status, 'changePlan') === undefined) return 'subscription_not_active';
  if (to.status !== 'active') return 'plan_not_active';
  if (from.currency !== to.currency) return 'currency_mismatch';
  if (isCheaper(to, from) && isOverLimit) return 'usage_over_limit';
  return undefined;
}
