import type { BillingPeriod } from '../../../../generated/billing/types.ts';

/** A stretch of time: it includes its start and excludes its end, both in milliseconds since 1970. */
export interface Stretch {
  readonly start: number;
  readonly end: number;
}

/** The last instant that a timestamp can have. */
export const endOfTime = Date.parse('9999-12-31T23:59:59.999Z');

const months: Record<BillingPeriod, number> = { monthly: 1, yearly: 12 };

/**
 * The start of the period that begins `count` intervals after the anchor, always computed from the anchor: monthly periods of
 * January 31 begin on February 28 and on March 31.
 *
 * @param anchor milliseconds since 1970; its day and time of day in UTC are those of all periods, and in a month that lacks the
 *   day, its last day is used
 * @param count an integer of either sign
 */
export const periodStart = (anchor: number, interval: BillingPeriod, count: number): number =>
  monthsLater(anchor, count * months[interval]);

/** The period of an anchor that contains this instant. */
export function periodAt(anchor: number, interval: BillingPeriod, instant: number): Stretch {
  const [from, to] = [new Date(anchor), new Date(instant)];
  const apart = (to.getUTCFullYear() - from.getUTCFullYear()) * 12 + to.getUTCMonth() - from.getUTCMonth();
  // In the month of the instant, the day of the anchor is either over or yet to come.
  const passed = monthsLater(anchor, apart) <= instant ? apart : apart - 1;
  const count = Math.floor(passed / months[interval]);
  return { start: periodStart(anchor, interval, count), end: periodStart(anchor, interval, count + 1) };
}

/** The starts of the periods of an anchor that lie strictly between two instants, ascending. */
export function periodStartsWithin(
  anchor: number,
  interval: BillingPeriod,
  { start, end }: Stretch,
): number[] {
  const starts: number[] = [];
  for (let next = periodAt(anchor, interval, start).end; next < end;) {
    starts.push(next);
    next = periodAt(anchor, interval, next).end;
  }
  return starts;
}

/** The month of an anchor that contains this instant: monthly counters start again with it, whatever the billing period is. */
export const windowAt = (anchor: number, instant: number): Stretch => periodAt(anchor, 'monthly', instant);

/** The day of an instant in UTC: `2026-01-19`. */
export const dayText = (instant: number): string => new Date(instant).toISOString().slice(0, 10);

function monthsLater(anchor: number, count: number): number {
  const from = new Date(anchor);
  const month = from.getUTCMonth() + count;
  const lastDay = new Date(Date.UTC(from.getUTCFullYear(), month + 1, 0)).getUTCDate();
  const day = Math.min(from.getUTCDate(), lastDay);
  const startOfDay = Date.UTC(from.getUTCFullYear(), from.getUTCMonth(), from.getUTCDate());
  return Date.UTC(from.getUTCFullYear(), month, day) + (anchor - startOfDay);
}
