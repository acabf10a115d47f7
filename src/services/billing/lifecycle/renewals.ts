import { momentText } from '../../../lib/moments.ts';
import type { Deps } from '../deps.ts';
import { draftUnlessFree } from '../invoices/drafts.ts';
import type { Stretch } from '../periods/calendar.ts';
import { renewal, resumption } from '../periods/course.ts';
import { segmentStore } from '../subscriptions/segments.store.ts';
import { subscriptionOf } from '../subscriptions/subscription.ts';
import { type ListedSubscription, subscriptionStore } from '../subscriptions/subscriptions.store.ts';
import { isLive } from '../subscriptions/states.ts';
import type { View } from '../../../db/view.ts';
import { SubscriptionNotFound } from '../errors.ts';
import type { Write } from '../writes.ts';
import { closeLate, currencyOf, end } from './endings.ts';
import { payersStore } from './payers.store.ts';
import { changed, follow, periodMembers, positionOf, rowOf, standingOf, termsAt } from './standing.ts';

export type LifecycleDeps = Pick<Deps, 'revisions' | 'clock' | 'settings' | 'log'>;

/** The most steps of one transaction: more than the months for which a subscription can be late. */
const mostSteps = 64;

/**
 * Locks a subscription and does what time alone has changed since it was last looked at, one period a step.
 * @throws Refused `subscription_not_found`
 */
export async function lockCurrent(
  tx: Write,
  deps: LifecycleDeps,
  view: View,
  id: string,
): Promise<ListedSubscription> {
  const locked = await subscriptionStore(tx.sql).lock(view, id);
  if (locked === undefined) throw SubscriptionNotFound();
  return await advance(tx, deps, locked);
}

/** Brings a locked subscription up to date. */
export async function advance(
  tx: Write,
  deps: LifecycleDeps,
  subscription: ListedSubscription,
): Promise<ListedSubscription> {
  let current = subscription;
  const now = momentText(deps.clock.now());
  for (let step = 0; step < mostSteps; step++) {
    if (current.next_action_at === null || current.next_action_at > now) return current;
    current = await advanceOnce(tx, deps, current, current.next_action_at);
  }
  return current;
}

/** Does what was due first. */
async function advanceOnce(
  tx: Write,
  deps: LifecycleDeps,
  row: ListedSubscription,
  due: string,
): Promise<ListedSubscription> {
  const at = Date.parse(due);
  if (!isLive(row.status)) {
    await closeLate(tx, deps, row);
    return { ...row, next_action_at: null };
  }
  if (row.cancel_at !== null && row.cancel_at <= due)
    return await end(tx, deps, row, { status: 'canceled', at });
  if (row.status === 'paused') return await resume(tx, deps, row, at);
  if (row.status === 'trialing' && due < row.trial_end!) return await tellOfTrialEnd(tx, deps, row);
  if (row.status === 'trialing') return await endTrial(tx, deps, row, at);
  return await renew(tx, deps, row, at);
}

async function tellOfTrialEnd(
  tx: Write,
  { clock }: LifecycleDeps,
  row: ListedSubscription,
): Promise<ListedSubscription> {
  const after = await changed(tx, row, { trial_ending_told: true }, clock.now());
  tx.emit('billing.subscription.trial_ending', after, subscriptionOf(after));
  return after;
}

/** The first paid period begins, unless the plan demands a payment method and there is none. */
async function endTrial(
  tx: Write,
  deps: LifecycleDeps,
  row: ListedSubscription,
  at: number,
): Promise<ListedSubscription> {
  const { plan_id, app_id } = row;
  const currency = await currencyOf(tx, deps, row);
  const isPayable =
    !(await payersStore(tx.sql).demandsMethod(app_id, plan_id)) ||
    (await payersStore(tx.sql).hasMethod(row, currency));
  if (!isPayable) {
    // What was used since is not paid either: nobody knew yet that the trial would be the end.
    await segmentStore(tx.sql).makeTrial(row, at);
    return await end(tx, deps, row, { status: 'expired', at: Math.max(at, deps.clock.now()) });
  }
  const after = await beginPeriod(tx, deps, row, at, { status: 'active' });
  tx.emit('billing.subscription.activated', after, subscriptionOf(after));
  return after;
}

/** The next period begins, and the one that has ended is invoiced. */
async function renew(
  tx: Write,
  deps: LifecycleDeps,
  row: ListedSubscription,
  at: number,
): Promise<ListedSubscription> {
  const period = { start: Date.parse(row.current_period_start), end: at };
  const after = await beginPeriod(tx, deps, row, at, {});
  await invoicePeriod(tx, deps, after, period);
  tx.emit('billing.subscription.renewed', after, subscriptionOf(after));
  return after;
}

async function beginPeriod(
  tx: Write,
  deps: LifecycleDeps,
  row: ListedSubscription,
  at: number,
  change: { readonly status?: 'active' },
): Promise<ListedSubscription> {
  const { terms } = await termsAt(tx.sql, deps, { app: row.app_id, planId: row.plan_id, at });
  const course = renewal(terms, { ...rowOf(row), start: at });
  await follow(tx, row, at, course.segments);
  const members = { ...periodMembers(course, at), billing_period: terms.interval, ...change };
  return await changed(tx, row, members, deps.clock.now());
}

/** Drafts the invoice of a period that has ended, or that the subscription has left. */
export async function invoicePeriod(
  tx: Write,
  deps: LifecycleDeps,
  row: ListedSubscription,
  period: Stretch,
): Promise<void> {
  await draftUnlessFree(tx, deps, row, {
    ...{ origin: 'renewal', asOf: period.end, withRunning: false, period, metadata: {} },
    currency: await currencyOf(tx, deps, row),
    finalizeAt: deps.clock.now() + deps.settings.invoiceGraceMs,
  });
}

/** Ends the pause of a locked subscription. A period that ended meanwhile is invoiced as it was, and a new one begins. */
export async function resume(
  tx: Write,
  deps: LifecycleDeps,
  row: ListedSubscription,
  at: number,
): Promise<ListedSubscription> {
  const { terms } = await termsAt(tx.sql, deps, { app: row.app_id, planId: row.plan_id, at });
  const position = positionOf(await standingOf(tx.sql, row, at), at);
  const course = resumption(terms, position);
  const isOver = at >= position.current.period.end;
  await follow(tx, row, at, course.segments);
  const after = await changed(
    tx,
    row,
    {
      ...periodMembers(course, at),
      ...(isOver && { billing_period: terms.interval }),
      ...{ status: 'active', resume_at: null },
    },
    deps.clock.now(),
  );
  if (isOver) await invoicePeriod(tx, deps, after, { start: position.current.period.start, end: at });
  tx.emit('billing.subscription.resumed', after, subscriptionOf(after));
  return after;
}
