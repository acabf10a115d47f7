/** The stretch after which a period, or a counter of use, starts again. */
export type Interval = 'weekly' | 'monthly' | 'quarterly' | 'yearly';

/** A stretch of time: it includes its start and excludes its end, both in milliseconds since 1970. */
export interface Stretch {
  readonly start: number;
  readonly end: number;
}

const weekMs = 7 * 86_400_000;
const months: Record<Exclude<Interval, 'weekly'>, number> = { monthly: 1, quarterly: 3, yearly: 12 };

/**
 * The start of the period that begins `count` intervals after the anchor, always computed from the anchor: monthly periods of
 * January 31 begin on February 28 and on March 31.
 *
 * @param anchor milliseconds since 1970; its day and time of day in UTC are those of all periods, and in a month that lacks the
 *   day, its last day is used
 * @param count an integer of either sign
 */
export function intervalStart(anchor: number, interval: Interval, count: number): number {
  if (interval === 'weekly') return anchor + count * weekMs;
  const from = new Date(anchor);
  const month = from.getUTCMonth() + count * months[interval];
  const lastDay = new Date(Date.UTC(from.getUTCFullYear(), month + 1, 0)).getUTCDate();
  const day = Math.min(from.getUTCDate(), lastDay);
  return Date.UTC(from.getUTCFullYear(), month, day) + (anchor - startOfDay(anchor));
}

/** The period of an anchor that contains this instant. */
export function intervalAt(anchor: number, interval: Interval, instant: number): Stretch {
  const span = instant - anchor;
  const typicalMs = interval === 'weekly' ? weekMs : months[interval] * (365.2425 / 12) * 86_400_000;
  let count = Math.floor(span / typicalMs);
  // A month is up to three days shorter or longer than the average, so that the estimate is off by one at most.
  while (intervalStart(anchor, interval, count) > instant) count -= 1;
  while (intervalStart(anchor, interval, count + 1) <= instant) count += 1;
  return {
    start: intervalStart(anchor, interval, count),
    end: intervalStart(anchor, interval, count + 1),
  };
}

/** The starts of the periods of an anchor that lie strictly between two instants, ascending. */
export function intervalStartsBetween(anchor: number, interval: Interval, { start, end }: Stretch): number[] {
  const starts: number[] = [];
  for (let next = intervalAt(anchor, interval, start).end; next < end;) {
    starts.push(next);
    next = intervalAt(anchor, interval, next).end;
  }
  return starts;
}

function startOfDay(instant: number): number {
  const date = new Date(instant);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate());
}
