import { intervalAt, intervalStartsBetween, type Interval, type Stretch } from './calendar.ts';

/** What a subscription is in for a while. */
export type SegmentKind = 'trial' | 'paid' | 'paused';

/** The smallest stretch of a subscription that has one period, one window of its counters and one kind. */
export interface Segment extends Stretch {
  readonly kind: SegmentKind;
  readonly period: Stretch;
  /** The month, counted from the anchor, in which monthly counters run. */
  readonly window: Stretch;
}

/**
 * Cuts a stretch of a subscription at each start of a period and of a monthly window, so that every instant of it lies in exactly one
 * segment.
 *
 * @param anchor the start of the first paid period, in milliseconds since 1970
 */
export function segmentsOf(
  kind: SegmentKind,
  stretch: Stretch,
  { anchor, interval }: { readonly anchor: number; readonly interval: Interval },
): Segment[] {
  const cuts = new Set([
    stretch.start,
    ...intervalStartsBetween(anchor, interval, stretch),
    ...intervalStartsBetween(anchor, 'monthly', stretch),
  ]);
  const starts = [...cuts].sort((a, b) => a - b);
  return starts.map((start, at) => ({
    kind,
    start,
    end: starts[at + 1] ?? stretch.end,
    period: intervalAt(anchor, interval, start),
    window: intervalAt(anchor, 'monthly', start),
  }));
}

/** The end of the period after the one that contains this instant: segments exist that far, so that ingest never waits for a renewal. */
export function endOfNextPeriod(anchor: number, interval: Interval, instant: number): number {
  const current = intervalAt(anchor, interval, instant);
  return intervalAt(anchor, interval, current.end).end;
}
