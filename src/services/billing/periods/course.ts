import type { BillingPeriod } from '../../../../generated/billing/types.ts';
import { endOfTime, periodAt, type Stretch } from './calendar.ts';
import {
  paidSegments,
  trialSegments,
  type BasePrice,
  type Revision,
  type Row,
  type Segment,
} from './segments.ts';

/** What the current revision of a plan says about its periods. */
export interface PlanTerms extends Revision {
  readonly interval: BillingPeriod;
  /** The base price of a period in minor units. */
  readonly base: bigint;
}

/** How a subscription goes on from an instant: its segments until the end of the next period, and where its periods are anchored. */
export interface Course {
  /** The start of the first paid period of this row of periods. */
  readonly anchor: number;
  /** The start of one of the tenant's months. */
  readonly windowAnchor: number;
  readonly segments: readonly Segment[];
}

/**
 * The course of a new subscription.
 *
 * @param trialEnd the start of the first paid period; `start` without a trial
 * @param windowAnchor that of the tenant's earlier subscriptions; without them, its months begin with the first paid period
 */
export function beginning(
  terms: PlanTerms,
  {
    start,
    trialEnd,
    windowAnchor = trialEnd,
  }: { readonly start: number; readonly trialEnd: number; readonly windowAnchor?: number | undefined },
): Course {
  const trial = { start, end: trialEnd };
  const row = { anchor: trialEnd, windowAnchor };
  return start === trialEnd ? from(row, start, terms) : inTrial(row, trial, trial, terms);
}

/**
 * The course from the start of a period that has come: it and the next one have the prices of this revision. Where the revision has
 * periods of another length, their row begins here.
 */
export const renewal = (
  terms: PlanTerms,
  { anchor, windowAnchor, start, interval }: Row & { readonly start: number },
): Course => from({ anchor: terms.interval === interval ? anchor : start, windowAnchor }, start, terms);

/**
 * The course from a change of the plan on. A plan with the same interval keeps the period; with another one, a new period begins.
 *
 * @param position in a paid segment
 * @param isProrated whether the rest of the period has the new base price; otherwise it has the old one, unless the new one is higher:
 *   what is used is never billed as something cheaper
 */
export function planChange(terms: PlanTerms, position: Position, isProrated: boolean): Course {
  const { at, anchor, windowAnchor, current, interval } = position;
  if (terms.interval !== interval) return from({ anchor: at, windowAnchor }, at, terms);
  const isLower = terms.base <= current.base.amount;
  const base = !isProrated && isLower ? current.base : basePrice(terms);
  return { anchor, windowAnchor, segments: restAndNext({ plan: planOf(terms), base }, terms, position) };
}

/**
 * The course from a change of the plan within a trial on. The first paid period begins with the end of the trial, or now if that is
 * over. Months that were to begin with the first paid period still do.
 *
 * @param trialEnd until when the new plan lets the trial go on
 */
export function trialChange(
  terms: PlanTerms,
  { at, anchor, windowAnchor, current }: Position,
  trialEnd: number,
): Course {
  const end = Math.max(at, trialEnd);
  const row = { anchor: end, windowAnchor: windowAnchor === anchor ? end : windowAnchor };
  if (end === at) return from(row, at, terms);
  return inTrial(row, { start: at, end }, { start: current.period.start, end }, terms);
}

/** The course from a pause on: one segment, whose end is not known yet. */
export const pause = ({ at, anchor, windowAnchor, current }: Position): Course => ({
  anchor,
  windowAnchor,
  segments: [{ ...current, kind: 'paused', start: at, end: endOfTime }],
});

/**
 * The course from the end of a pause on. Within its period, the period goes on as it was; after it, a new period begins.
 *
 * @param terms those of the paused plan: its current revision counts from the next period on
 * @param current the paused segment
 */
export function resumption(terms: PlanTerms, position: Position): Course {
  const { at, anchor, windowAnchor, current } = position;
  if (at >= current.period.end) return from({ anchor: at, windowAnchor }, at, terms);
  return { anchor, windowAnchor, segments: restAndNext(current, terms, position) };
}

/** Where a subscription stands. */
export interface Position extends Row {
  readonly at: number;
  /** The segment that contains the instant. */
  readonly current: Segment;
}

const basePrice = ({ planId, revision, base }: PlanTerms): BasePrice => ({ planId, revision, amount: base });

const planOf = ({ planId, revision }: PlanTerms): Revision => ({ planId, revision });

type Anchors = Pick<Row, 'anchor' | 'windowAnchor'>;

/** The period that starts here and the next one: segments exist one period ahead, so that ingest never waits for a renewal. */
function from(anchors: Anchors, start: number, terms: PlanTerms): Course {
  const { interval } = terms;
  const { end } = periodAt(anchors.anchor, interval, periodAt(anchors.anchor, interval, start).end);
  const common = { kind: 'paid', plan: planOf(terms), base: basePrice(terms) } as const;
  return { ...anchors, segments: paidSegments({ start, end }, { ...anchors, interval }, common) };
}

/** The rest of a trial, and the first paid period. */
function inTrial(anchors: Anchors, rest: Stretch, period: Stretch, terms: PlanTerms): Course {
  const common = { plan: planOf(terms), base: basePrice(terms) };
  const { anchor, windowAnchor } = anchors;
  const first = periodAt(anchor, terms.interval, anchor);
  return {
    ...anchors,
    segments: [
      ...trialSegments(rest, { windowAnchor, period }, { kind: 'trial', ...common }),
      ...paidSegments(first, { ...anchors, interval: terms.interval }, { kind: 'paid', ...common }),
    ],
  };
}

/** The rest of the running period, and the next one. */
function restAndNext(
  rest: Pick<Segment, 'plan' | 'base'>,
  next: PlanTerms,
  { at, anchor, windowAnchor, interval, current }: Position,
): Segment[] {
  const { plan, base } = rest;
  const { end } = current.period;
  const later = next.interval === interval ? anchor : end;
  return [
    ...paidSegments({ start: at, end }, { anchor, interval, windowAnchor }, { kind: 'paid', plan, base }),
    ...paidSegments(
      periodAt(later, next.interval, end),
      { anchor: later, interval: next.interval, windowAnchor },
      { kind: 'paid', plan: planOf(next), base: basePrice(next) },
    ),
  ];
}
