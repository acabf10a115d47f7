import type { SubscriptionStatus } from '../../../../generated/billing/types.ts';

/** What can happen to a subscription. */
export type SubscriptionTrigger =
  | 'trialEnds'
  | 'trialEndsUnpayable'
  | 'paymentFails'
  | 'invoiceIsOverdue'
  | 'debtsAreCleared'
  | 'attemptsAreExhausted'
  | 'pause'
  | 'resume'
  | 'cancelAtPeriodEnd'
  | 'uncancel'
  | 'cancel'
  | 'changePlan';

type Row = Partial<Record<SubscriptionStatus, SubscriptionStatus>>;

/** A status keeps its place where the trigger leaves the subscription live and as it was. */
const table: Record<SubscriptionTrigger, Row> = {
  trialEnds: { trialing: 'active' },
  trialEndsUnpayable: { trialing: 'expired' },
  paymentFails: { active: 'past_due', past_due: 'past_due' },
  invoiceIsOverdue: { active: 'past_due', past_due: 'past_due' },
  debtsAreCleared: { past_due: 'active' },
  attemptsAreExhausted: { past_due: 'expired' },
  pause: { active: 'paused' },
  resume: { paused: 'active' },
  cancelAtPeriodEnd: { trialing: 'trialing', active: 'active', past_due: 'past_due', paused: 'paused' },
  uncancel: { trialing: 'trialing', active: 'active', past_due: 'past_due', paused: 'paused' },
  cancel: { trialing: 'canceled', active: 'canceled', past_due: 'canceled', paused: 'canceled' },
  changePlan: { trialing: 'trialing', active: 'active' },
};

/** The status after a trigger; undefined where the trigger is refused, or means nothing to a subscription in this status. */
export const nextStatus = (
  status: SubscriptionStatus,
  trigger: SubscriptionTrigger,
): SubscriptionStatus | undefined => table[trigger][status];

/** Whether a subscription has not ended: a tenant has at most one such in an app. */
export const isLive = (status: SubscriptionStatus): boolean => status !== 'canceled' && status !== 'expired';

/** Whether a subscription entitles its tenant and counts its use. */
export const isEntitling = (status: SubscriptionStatus): boolean => isLive(status) && status !== 'paused';
