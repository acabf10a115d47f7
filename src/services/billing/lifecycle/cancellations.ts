import { InvalidState } from '../errors.ts';
import { pause, renewal, resumption } from '../periods/course.ts';
import type { Segment } from '../periods/segments.ts';
import { isLive } from '../subscriptions/states.ts';
import { subscriptionOf } from '../subscriptions/subscription.ts';
import type { ListedSubscription } from '../subscriptions/subscriptions.store.ts';
import type { Write } from '../writes.ts';
import { end } from './endings.ts';
import type { LifecycleDeps } from './renewals.ts';
import { changed, follow, rowOf, standingOf, termsAt } from './standing.ts';

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

/** Withdraws a cancellation, if there is one: what was to follow exists again. */
export async function uncancel(
  tx: Write,
  deps: LifecycleDeps,
  row: ListedSubscription,
  now: number,
): Promise<ListedSubscription> {
  if (!isLive(row.status)) throw InvalidState(`subscription is ${row.status}`);
  if (row.cancel_at === null) return row;
  const after = await changed(tx, row, { cancel_at: null }, now);
  const at = Date.parse(row.cancel_at);
  const last = (await standingOf(tx.sql, row, now)).segments.at(-1);
  // A cancellation within the last segment has cut it off; otherwise the course goes on beyond it.
  if (last?.end === at) await follow(tx, after, at, await rest(tx, deps, after, last));
  tx.emit('billing.subscription.updated', after, subscriptionOf(after));
  return after;
}

/** What would have followed the last segment: more of its pause, which no period ends, the rest of its period, or the next one. */
async function rest(
  { sql }: Write,
  deps: LifecycleDeps,
  subscription: ListedSubscription,
  last: Segment,
): Promise<readonly Segment[]> {
  const { app_id: app, plan_id: planId } = subscription;
  const [at, row] = [last.end, rowOf(subscription)];
  const position = { at, ...row, current: last };
  if (last.kind === 'paused') return pause(position).segments;
  const { terms } = await termsAt(sql, deps, { app, planId, at });
  const course = at < last.period.end ? resumption(terms, position) : renewal(terms, { ...row, start: at });
  return course.segments;
}
