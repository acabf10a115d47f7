import { InvalidState } from '../errors.ts';
import { pause, renewal } from '../periods/course.ts';
import { isLive } from '../subscriptions/states.ts';
import { subscriptionOf } from '../subscriptions/subscription.ts';
import type { ListedSubscription } from '../subscriptions/subscriptions.store.ts';
import type { Write } from '../writes.ts';
import { end } from './endings.ts';
import type { LifecycleDeps } from './renewals.ts';
import { changed, follow, positionOf, standingOf, termsAt } from './standing.ts';

/** Lets a live subscription end with its period. One whose period ended during a pause ends now. */
export async function cancelAtPeriodEnd(
  tx: Write,
  deps: LifecycleDeps,
  row: ListedSubscription,
  now: number,
): Promise<ListedSubscription> {
  if (row.cancel_at !== null) return row;
  if (Date.parse(row.current_period_end) <= now)
    return await end(tx, deps, row, { status: 'canceled', at: now });
  const after = await changed(tx, row, { cancel_at: row.current_period_end }, now);
  await follow(tx, after, Date.parse(row.current_period_end), []);
  tx.emit('billing.subscription.updated', after, subscriptionOf(after));
  return after;
}

/** Withdraws a cancellation: what was to follow exists again. */
export async function uncancel(
  tx: Write,
  deps: LifecycleDeps,
  row: ListedSubscription,
  now: number,
): Promise<ListedSubscription> {
  if (row.cancel_at === null || !isLive(row.status)) throw InvalidState('subscription is not to be canceled');
  const after = await changed(tx, row, { cancel_at: null }, now);
  await follow(tx, after, Date.parse(row.cancel_at), await rest(tx, deps, after, Date.parse(row.cancel_at)));
  tx.emit('billing.subscription.updated', after, subscriptionOf(after));
  return after;
}

/** What would have followed the cancellation: the next period, or more of a pause, which no period ends. */
async function rest({ sql }: Write, deps: LifecycleDeps, row: ListedSubscription, at: number) {
  if (row.status === 'paused') {
    const last = at - 1;
    const position = positionOf(await standingOf(sql, row, last), last);
    return pause({ ...position, at }).segments;
  }
  const { terms } = await termsAt(sql, deps, { app: row.app_id, planId: row.plan_id, at });
  const { segments } = renewal(terms, {
    anchor: Date.parse(row.anchor),
    start: at,
    interval: row.billing_period,
  });
  return segments;
}
