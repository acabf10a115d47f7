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
  /** The month, counted from the anchor, in which monthly counters run. */
  readonly window: Stretch;
  readonly plan: Revision;
  /** Owed for paid segments only. */
  readonly base: BasePrice;
}

/** What the segments of a stretch have in common. */
export type SegmentTerms = Pick<Segment, 'kind' | 'plan' | 'base'>;

/**
 * Cuts a stretch at each start of a period and of a monthly window, so that every instant of it lies in exactly one segment.
 *
 * @param anchor the start of the first paid period, in milliseconds since 1970
 */
export function paidSegments(
  stretch: Stretch,
  { anchor, interval }: { readonly anchor: number; readonly interval: BillingPeriod },
  terms: SegmentTerms,
): Segment[] {
  // Each start of a yearly period also starts a month.
  return pieces(stretch, anchor).map((piece) => ({
    ...piece,
    ...terms,
    period: periodAt(anchor, interval, piece.start),
    window: windowAt(anchor, piece.start),
  }));
}

/** Cuts a stretch before the first paid period, which is one period whatever its length, at each start of a monthly window. */
export const trialSegments = (
  stretch: Stretch,
  { anchor, period }: { readonly anchor: number; readonly period: Stretch },
  terms: SegmentTerms,
): Segment[] =>
  pieces(stretch, anchor).map((piece) => ({
    ...piece,
    ...terms,
    period,
    window: windowAt(anchor, piece.start),
  }));

function pieces(stretch: Stretch, anchor: number): Stretch[] {
  const starts = [stretch.start, ...periodStartsWithin(anchor, 'monthly', stretch)];
  return starts.map((start, index) => ({ start, end: starts[index + 1] ?? stretch.end }));
}

/** The segment that contains an instant; none before the start of a subscription and after its end. */
export const segmentAt = <S extends Stretch>(segments: readonly S[], instant: number): S | undefined =>
  segments.find(({ start, end }) => start <= instant && instant < end);
