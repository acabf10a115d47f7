import type { Sql } from '../../../db/index.ts';
import { momentText } from '../../../lib/moments.ts';
import type { Deps } from '../deps.ts';
import { InvalidState, PlanNotFound } from '../errors.ts';
import type { Course, PlanTerms, Position } from '../periods/course.ts';
import { segmentAt, type Row, type Segment } from '../periods/segments.ts';
import { revisionStore } from '../plans/revisions.store.ts';
import { type PlanRevision, termsOf } from '../plans/revisions.ts';
import { segmentStore } from '../subscriptions/segments.store.ts';
import {
  type ListedSubscription,
  type SubscriptionChange,
  type SubscriptionRow,
  subscriptionStore,
} from '../subscriptions/subscriptions.store.ts';
import { placingStore } from '../usage/placing.store.ts';
import type { Write } from '../writes.ts';

/** A subscription whose row is locked, with the segments of its running and its later periods. */
export interface Standing {
  readonly subscription: ListedSubscription;
  readonly segments: readonly Segment[];
}

/** Reads the segments of a locked subscription from the period on that contains a time. */
export async function standingOf(sql: Sql, subscription: ListedSubscription, at: number): Promise<Standing> {
  return { subscription, segments: await segmentStore(sql).list(subscription, at) };
}

/** Where the subscription stands at a time, which one of its segments contains. */
export function positionOf({ subscription, segments }: Standing, at: number): Position {
  const current = segmentAt(segments, at);
  if (current === undefined)
    throw new Error(`subscription ${subscription.id} has no segment at ${momentText(at)}`);
  return { at, ...rowOf(subscription), current };
}

/** The row of periods of a subscription. */
export const rowOf = ({ anchor, window_anchor, billing_period }: ListedSubscription): Row => ({
  anchor: Date.parse(anchor),
  windowAnchor: Date.parse(window_anchor),
  interval: billing_period,
});

/** The most segments of the running and the next period. Every change, and every invoice for a year to come, looks at all of them. */
const mostSegments = 1_000;

/** @throws Refused `invalid_state` when the running period was changed too often for a change that cuts it once more */
export function checkRoom({ segments }: Pick<Standing, 'segments'>): void {
  if (segments.length >= mostSegments)
    throw InvalidState('subscription was changed too often in its billing period');
}

/**
 * The first time at which a running segment can be cut: one that has just begun keeps a millisecond, also one that has begun by the clock
 * of another process only.
 */
export function cuttableFrom({ segments }: Pick<Standing, 'segments'>, now: number): number {
  const current = segmentAt(segments, now) ?? segments[0];
  return current === undefined ? now : Math.max(now, current.start + 1);
}

/** The features and prices of a plan for what begins at a time: those of the last revision that was made before. */
export async function termsAt(
  sql: Sql,
  { revisions }: Pick<Deps, 'revisions'>,
  { app, planId, at }: { readonly app: string; readonly planId: string; readonly at: number },
): Promise<{ readonly plan: PlanRevision; readonly terms: PlanTerms }> {
  const revision = await revisionStore(sql).madeBefore(app, planId, at);
  if (revision === undefined) throw PlanNotFound();
  const current = { planId, revision };
  const plan = (await revisions.read(sql, app, [current]))(current);
  return { plan, terms: termsOf(plan) };
}

/**
 * Replaces the course of a subscription from a time on, and counts the events that waited for it. Nothing follows a cancellation that is
 * due, so that usage after it is not counted even if the subscription is ended late.
 */
export async function follow(
  { sql }: Pick<Write, 'sql'>,
  subscription: ListedSubscription,
  at: number,
  segments: readonly Segment[],
): Promise<void> {
  const end = subscription.cancel_at === null ? Infinity : Date.parse(subscription.cancel_at);
  const rest = segments
    .filter(({ start }) => start < end)
    .map((one) => (one.end > end ? { ...one, end } : one));
  await segmentStore(sql).replaceFrom(subscription, at, rest);
  if (rest.length > 0) await placingStore(sql).placeAll(subscription);
}

/** The members of a subscription that follow from its course. */
export function periodMembers({ anchor, windowAnchor, segments }: Course, at: number): SubscriptionChange {
  const period = segmentAt(segments, at)?.period;
  return {
    anchor: momentText(anchor),
    window_anchor: momentText(windowAnchor),
    ...(period !== undefined && {
      current_period_start: momentText(period.start),
      current_period_end: momentText(period.end),
    }),
  };
}

/** Stores a change of a locked subscription, and when time alone changes it next. Returns the row after it. */
export async function changed(
  { sql }: Pick<Write, 'sql'>,
  subscription: ListedSubscription,
  change: SubscriptionChange,
  at: number,
): Promise<ListedSubscription> {
  const after = { ...subscription, ...change };
  const next_action_at = change.next_action_at === undefined ? nextAction(after) : change.next_action_at;
  await subscriptionStore(sql).change(subscription, { ...change, next_action_at }, at);
  return { ...after, next_action_at, updated_at: momentText(at) };
}

/** How long before its end subscribers hear of the end of a trial. */
export const trialNoticeMs = 3 * 86_400_000;

/** When time alone changes a live subscription next. */
export function nextAction(row: SubscriptionRow): string | null {
  const times = [
    row.cancel_at,
    row.status === 'paused' ? row.resume_at : row.current_period_end,
    row.status === 'trialing' && !row.trial_ending_told && row.trial_end !== null
      ? momentText(Date.parse(row.trial_end) - trialNoticeMs)
      : null,
  ].filter((time) => time !== null);
  return times.length === 0 ? null : times.reduce((one, other) => (one < other ? one : other));
}
