import type { BillingPeriod } from '../../../../generated/billing/types.ts';
import { endOfTime, periodAt, type Stretch } from './calendar.ts';
import { paidSegments, trialSegments, type BasePrice, type Revision, type Segment } from './segments.ts';

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
  readonly segments: readonly Segment[];
}

/**
 * The course of a new subscription.
 *
 * @param trialEnd the start of the first paid period; `start` without a trial
 */
export function beginning(
  terms: PlanTerms,
  { start, trialEnd }: { readonly start: number; readonly trialEnd: number },
): Course {
  const trial = { start, end: trialEnd };
  const anchor = trialEnd;
  if (start === trialEnd) return { anchor, segments: periodsFrom(anchor, anchor, terms) };
  return { anchor, segments: inTrial(trial, trial, terms) };
}

/**
 * The course from the start of a period that has come: it and the next one have the prices of this revision. Where the revision has
 * periods of another length, their row begins here.
 */
export const renewal = (
  terms: PlanTerms,
  { anchor, start, interval }: Row & { readonly start: number },
): Course => {
  const from = terms.interval === interval ? anchor : start;
  return { anchor: from, segments: periodsFrom(from, start, terms) };
};

/**
 * The course from a change of the plan on. A plan with the same interval keeps the period; with another one, a new period begins. A
 * trial goes on.
 *
 * @param current the segment that contains the instant, of the kind `trial` or `paid`
 * @param isProrated whether the rest of the period has the new base price; otherwise it has the old one, unless the new one is higher:
 *   what is used is never billed as something cheaper
 */
export function planChange(terms: PlanTerms, position: Position, isProrated: boolean): Course {
  const { at, anchor, current, interval } = position;
  if (current.kind === 'trial')
    return { anchor, segments: inTrial({ start: at, end: anchor }, current.period, terms) };
  if (terms.interval !== interval) return { anchor: at, segments: periodsFrom(at, at, terms) };
  const isLower = terms.base <= current.base.amount;
  const base = !isProrated && isLower ? current.base : basePrice(terms);
  return { anchor, segments: restAndNext({ plan: planOf(terms), base }, terms, position) };
}

/** The course from a pause on: one segment, whose end is not known yet. */
export const pause = ({ at, anchor, current }: Position): Course => ({
  anchor,
  segments: [{ ...current, kind: 'paused', start: at, end: endOfTime }],
});

/**
 * The course from the end of a pause on. Within its period, the period goes on as it was; after it, a new period begins.
 *
 * @param terms those of the paused plan: its current revision counts from the next period on
 * @param current the paused segment
 */
export function resumption(terms: PlanTerms, position: Position): Course {
  const { at, anchor, current } = position;
  if (at >= current.period.end) return { anchor: at, segments: periodsFrom(at, at, terms) };
  return { anchor, segments: restAndNext(current, terms, position) };
}

/** A row of periods. */
export interface Row {
  readonly anchor: number;
  readonly interval: BillingPeriod;
}

/** Where a subscription stands. */
export interface Position extends Row {
  readonly at: number;
  /** The segment that contains the instant. */
  readonly current: Segment;
}

const basePrice = ({ planId, revision, base }: PlanTerms): BasePrice => ({ planId, revision, amount: base });

const planOf = ({ planId, revision }: PlanTerms): Revision => ({ planId, revision });

/** The period that starts here and the next one: segments exist one period ahead, so that ingest never waits for a renewal. */
function periodsFrom(anchor: number, start: number, terms: PlanTerms): Segment[] {
  const { interval } = terms;
  const { end } = periodAt(anchor, interval, periodAt(anchor, interval, start).end);
  return paidSegments(
    { start, end },
    { anchor, interval },
    { kind: 'paid', plan: planOf(terms), base: basePrice(terms) },
  );
}

function inTrial(rest: Stretch, period: Stretch, terms: PlanTerms): Segment[] {
  const common = { plan: planOf(terms), base: basePrice(terms) };
  const anchor = rest.end;
  return [
    ...trialSegments(rest, { anchor, period }, { kind: 'trial', ...common }),
    ...paidSegments(
      periodAt(anchor, terms.interval, anchor),
      { anchor, interval: terms.interval },
      { kind: 'paid', ...common },
    ),
  ];
}

/** The rest of the running period, and the next one. */
function restAndNext(
  rest: Pick<Segment, 'plan' | 'base'>,
  next: PlanTerms,
  { at, anchor, interval, current }: Position,
): Segment[] {
  const { plan, base } = rest;
  const { end } = current.period;
  const from = next.interval === interval ? anchor : end;
  return [
    ...paidSegments({ start: at, end }, { anchor, interval }, { kind: 'paid', plan, base }),
    ...paidSegments(
      periodAt(from, next.interval, end),
      { anchor: from, interval: next.interval },
      { kind: 'paid', plan: planOf(next), base: basePrice(next) },
    ),
  ];
}
