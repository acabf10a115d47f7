import type { Subscription } from '../../../../generated/billing/types.ts';
import type { ListedSubscription } from './subscriptions.store.ts';

/** A subscription as responses show it. */
export const subscriptionOf = ({
  anchor: _anchor,
  window_anchor: _windowAnchor,
  counts_from: _from,
  billing_period: _period,
  next_action_at: _next,
  trial_ending_told: _told,
  trial_granted: _granted,
  ...row
}: ListedSubscription): Subscription => row;
