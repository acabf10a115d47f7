import type { Granularity } from '../../../../generated/keys/types.ts';
import { Invalid } from '../../../lib/errors.ts';
import { latestMoment, momentText, parseMoment } from '../../../lib/moments.ts';

/** The moments that a usage question covers: `from` inclusive, `to` exclusive, RFC 3339 in UTC. */
export interface Range {
  readonly from: string;
  readonly to: string;
}

/** The range as sent. A date means midnight in UTC. */
export interface RangeRequest {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** Maximum number of periods in one answer. */
const mostPeriods = 1_000;
/** A report may be this far ahead of the clock. A question without `to` includes it. */
export const aheadMs = 60_000;

/**
 * Returns the requested range. Without `from` it covers the last `defaultMs`; without `to` it has no end.
 * @throws Invalid when a moment does not exist or `from` is after `to`
 */
export function rangeOf({ from, to }: RangeRequest, defaultMs: number, now: number): Range {
  const begin = from === undefined ? now - defaultMs : momentOf(from, 'from');
  const end = to === undefined ? now + aheadMs + 1 : momentOf(to, 'to');
  if (begin > end) throw Invalid('from: must not be after to');
  return { from: iso(begin), to: iso(end) };
}

/** Checks the number of periods in a range. @throws Invalid when there are more than one answer may have */
export function checkPeriods({ from, to }: Range, granularity: Granularity): void {
  const count = periodOf(Date.parse(to) - 1, granularity) - periodOf(Date.parse(from), granularity) + 1;
  if (count > mostPeriods)
    throw Invalid(`granularity: ${granularity} gives more than ${mostPeriods} periods in this range`);
}

/** Returns the number of the period that contains a moment, counted from a fixed period. */
function periodOf(ms: number, granularity: Granularity): number {
  if (granularity === 'hourly') return Math.floor(ms / 3_600_000);
  if (granularity === 'daily') return Math.floor(ms / 86_400_000);
  const date = new Date(ms);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

/** Rounds fractions of a millisecond up: records have whole milliseconds, so both bounds keep their meaning. */
function momentOf(text: string, field: string): number {
  const { ms, cut } = parseMoment(text.length === 10 ? `${text}T00:00:00Z` : text, field);
  return cut ? ms + 1 : ms;
}

const iso = (ms: number) => momentText(Math.min(ms, latestMoment));
