import type { Granularity } from '../../../../generated/billing/types.ts';
import { Invalid } from '../../../lib/errors.ts';
import { earliestMoment } from '../../../lib/moments.ts';
import { dayText } from '../periods/calendar.ts';

/** The most buckets of a history, and how many it has unless its start is given. */
const mostBuckets = 400;
const usualBuckets = 30;
const dayMs = 86_400_000;

/** What a history covers. */
export interface Coverage {
  /** The first day of each bucket, oldest first. */
  readonly buckets: readonly string[];
  /** The first and the last day whose use counts. */
  readonly firstDay: string;
  readonly lastDay: string;
}

/**
 * Use is counted by days of UTC, so a day counts as a whole when a part of it is asked for. A week or a month at either end has only the
 * days that are asked for.
 * @throws Invalid for a start that is not before the end, and for too many buckets
 */
export function coverage({
  start,
  end,
  granularity,
}: {
  /** Milliseconds since 1970. */
  readonly start: number | undefined;
  readonly end: number;
  readonly granularity: Granularity;
}): Coverage {
  if (start !== undefined && start >= end) throw Invalid('start: must be before end');
  const { numberOf, startOf } = calendars[granularity];
  const last = numberOf(end - 1);
  const first = numberOf(start ?? Math.max(earliestMoment, startOf(last - usualBuckets + 1)));
  const count = last - first + 1;
  if (count > mostBuckets) throw Invalid(`start: at most ${mostBuckets} periods before end`);
  return {
    buckets: Array.from({ length: Math.max(0, count) }, (_, at) => dayText(startOf(first + at))),
    firstDay: dayText(start ?? startOf(first)),
    lastDay: dayText(end - 1),
  };
}

interface BucketCalendar {
  /** The number of the bucket that contains an instant. */
  readonly numberOf: (instant: number) => number;
  /** The first instant of a bucket. */
  readonly startOf: (number: number) => number;
}

/** The first day of 1970 was a Thursday, and its week began three days earlier. */
const thursday = 3;

const calendars: Readonly<Record<Granularity, BucketCalendar>> = {
  daily: { numberOf: (instant) => Math.floor(instant / dayMs), startOf: (number) => number * dayMs },
  weekly: {
    numberOf: (instant) => Math.floor((Math.floor(instant / dayMs) + thursday) / 7),
    startOf: (number) => (number * 7 - thursday) * dayMs,
  },
  monthly: {
    numberOf(instant) {
      const date = new Date(instant);
      return date.getUTCFullYear() * 12 + date.getUTCMonth();
    },
    startOf: (number) => new Date(0).setUTCFullYear(0, number, 1),
  },
};
