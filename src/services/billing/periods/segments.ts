import type { BillingPeriod } from '../../../../generated/billing/types.ts';
import { periodAt, periodStartsWithin, windowAt, type Stretch } from './calendar.ts';

/** What a subscription is in for a while. */
export type SegmentKind = 'trial' | 'paid' | 'paused';

/** A revision of a plan, whose features and prices count. */
export interface Revision {
  readonly planId: string;
  readonly revision: number;
}

/** The base price of a whole period, and the revision that it comes from. */
export interface BasePrice extends Revision {
  /** Minor units. */
  readonly amount: bigint;
}

/** The smallest stretch of a subscription with one kind, one plan, one base price, one period and one window of its counters. */
export interface Segment extends Stretch {
  readonly kind: SegmentKind;
  /** The period as planned: where it is cut short, the base price is still that of the whole. */
  readonly period: Stretch;
  /** The month of the tenant in which monthly counters and the tiers of monthly plans run. */
  readonly window: Stretch;
  /** The start of the year of such months in which the tiers of yearly plans run; null in segments from before tenants had months. */
  readonly yearStart: number | null;
  readonly plan: Revision;
  /** Owed for paid segments only. */
  readonly base: BasePrice;
}

/** What the segments of a stretch have in common. */
export type SegmentTerms = Pick<Segment, 'kind' | 'plan' | 'base'>;

/** A row of periods, and the months of the tenant, which go on when another row of periods begins. */
export interface Row {
  /** The start of the first paid period of the row, in milliseconds since 1970. */
  readonly anchor: number;
  readonly interval: BillingPeriod;
  /** The start of one of the tenant's months, from which the others are computed. */
  readonly windowAnchor: number;
}

/** Cuts a stretch at each start of a period and of a monthly window, so that every instant of it lies in exactly one segment. */
export function paidSegments(
  stretch: Stretch,
  { anchor, interval, windowAnchor }: Row,
  terms: SegmentTerms,
): Segment[] {
  const starts = [
    ...periodStartsWithin(anchor, interval, stretch),
    ...periodStartsWithin(windowAnchor, 'monthly', stretch),
  ];
  return pieces(stretch, starts).map((piece) => ({
    ...piece,
    ...terms,
    period: periodAt(anchor, interval, piece.start),
    ...windowsAt(windowAnchor, piece.start),
  }));
}

/** Cuts a stretch before the first paid period, which is one period whatever its length, at each start of a monthly window. */
export const trialSegments = (
  stretch: Stretch,
  { windowAnchor, period }: Pick<Row, 'windowAnchor'> & { readonly period: Stretch },
  terms: SegmentTerms,
): Segment[] =>
  pieces(stretch, periodStartsWithin(windowAnchor, 'monthly', stretch)).map((piece) => ({
    ...piece,
    ...terms,
    period,
    ...windowsAt(windowAnchor, piece.start),
  }));

const windowsAt = (windowAnchor: number, instant: number): Pick<Segment, 'window' | 'yearStart'> => ({
  window: windowAt(windowAnchor, instant),
  yearStart: periodAt(windowAnchor, 'yearly', instant).start,
});

/** The pieces of a stretch between instants within it. */
function pieces(stretch: Stretch, instants: readonly number[]): Stretch[] {
  const starts = [stretch.start, ...new Set(instants)].sort((a, b) => a - b);
  return starts.map((start, index) => ({ start, end: starts[index + 1] ?? stretch.end }));
}

/** The segment that contains an instant; none before the start of a subscription and after its end. */
export const segmentAt = <S extends Stretch>(segments: readonly S[], instant: number): S | undefined =>
  segments.find(({ start, end }) => start <= instant && instant < end);
