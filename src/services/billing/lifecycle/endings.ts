import { momentText } from '../../../lib/moments.ts';
import type { Deps } from '../deps.ts';
import { draftUnlessFree } from '../invoices/drafts.ts';
import type { Stretch } from '../periods/calendar.ts';
import { subscriptionOf } from '../subscriptions/subscription.ts';
import type { ListedSubscription } from '../subscriptions/subscriptions.store.ts';
import type { Write } from '../writes.ts';
import { changed, cuttableFrom, follow, standingOf } from './standing.ts';

type EndingDeps = Pick<Deps, 'revisions' | 'clock' | 'settings' | 'log'>;

/**
 * Ends a locked subscription: nothing is counted from then on, and what was used until then is invoiced. After the late window, it is
 * looked at once more, for usage that came late.
 */
export async function end(
  tx: Write,
  deps: EndingDeps,
  subscription: ListedSubscription,
  { status, at }: { readonly status: 'canceled' | 'expired'; readonly at: number },
): Promise<ListedSubscription> {
  const now = deps.clock.now();
  const standing = await standingOf(tx.sql, subscription, at);
  const ended = cuttableFrom(standing, at);
  await follow(tx, subscription, ended, []);
  const after = await changed(
    tx,
    subscription,
    {
      status,
      ended_at: momentText(ended),
      canceled_at: status === 'canceled' ? momentText(ended) : null,
      cancel_at: null,
      resume_at: null,
      next_action_at: momentText(ended + deps.settings.lateWindowMs),
    },
    now,
  );
  const period = periodUntil(after, ended);
  await draftUnlessFree(tx, deps, after, {
    ...{ origin: 'cancellation', asOf: Math.max(now, ended), withRunning: false, period, metadata: {} },
    currency: await currencyOf(tx, deps, after),
    finalizeAt: now + deps.settings.invoiceGraceMs,
  });
  tx.emit(`billing.subscription.${status}`, after, subscriptionOf(after));
  return after;
}

/** Invoices the usage of an ended subscription that came late. */
export async function closeLate(
  tx: Write,
  deps: EndingDeps,
  subscription: ListedSubscription,
): Promise<void> {
  const now = deps.clock.now();
  await changed(tx, subscription, { next_action_at: null }, now);
  await draftUnlessFree(tx, deps, subscription, {
    ...{ origin: 'cancellation', asOf: now, withRunning: false, metadata: {} },
    period: periodUntil(subscription, Date.parse(subscription.ended_at!)),
    currency: await currencyOf(tx, deps, subscription),
    finalizeAt: now + deps.settings.invoiceGraceMs,
  });
}

/** The last period of a subscription, as far as it has come. */
function periodUntil({ current_period_start }: ListedSubscription, ended: number): Stretch {
  const start = Date.parse(current_period_start);
  return { start, end: Math.max(ended, start + 1) };
}

/** The currency of the plan, which no revision changes. */
export async function currencyOf(
  { sql }: Pick<Write, 'sql'>,
  { revisions }: Pick<Deps, 'revisions'>,
  { app_id, plan_id }: Pick<ListedSubscription, 'app_id' | 'plan_id'>,
): Promise<string> {
  const first = { planId: plan_id, revision: 1 };
  return (await revisions.read(sql, app_id, [first]))(first).currency;
}
