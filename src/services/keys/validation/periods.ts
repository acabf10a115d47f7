import type { Granularity } from '../../../../generated/keys/types.ts';
import { Invalid } from '../../../lib/errors.ts';

/** Which moments a question about usage is about: `from` inclusive, `to` exclusive, RFC 3339 in UTC. */
export interface Range {
  readonly from: string;
  readonly to: string;
}

/** What was sent of it. A date means its midnight in UTC. */
export interface RangeRequest {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** Most periods that one answer adds up. */
const mostPeriods = 1_000;
/** A report may be this far ahead of the clock; a question without `to` includes it. */
export const aheadMs = 60_000;
/** What both this language and the database can write with four digits of a year. */
const earliest = Date.parse('0001-01-01T00:00:00.000Z');
const latest = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * The range that was asked for; without `from` the last `defaultMs`, without `to` all there is.
 * @throws Invalid when a moment does not exist or `from` is after `to`.
 */
export function rangeOf({ from, to }: RangeRequest, defaultMs: number, now = Date.now()): Range {
  const begin = from === undefined ? now - defaultMs : parseMoment(from, 'from');
  const end = to === undefined ? now + aheadMs + 1 : parseMoment(to, 'to');
  if (begin > end) throw Invalid('from: must not be after to');
  return { from: iso(begin), to: iso(end) };
}

/** @throws Invalid when the range holds more periods than one answer may. */
export function checkPeriods({ from, to }: Range, granularity: Granularity): void {
  const count = periodOf(Date.parse(to) - 1, granularity) - periodOf(Date.parse(from), granularity) + 1;
  if (count > mostPeriods)
    throw Invalid(`granularity: ${granularity} gives more than ${mostPeriods} periods in this range`);
}

/** The number of the period that a moment lies in, counted from some period on. */
function periodOf(ms: number, granularity: Granularity): number {
  if (granularity === 'hourly') return Math.floor(ms / 3_600_000);
  if (granularity === 'daily') return Math.floor(ms / 86_400_000);
  const date = new Date(ms);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

/** Finer than a millisecond is rounded up: records have whole ones, so both bounds keep their meaning. */
function parseMoment(text: string, field: string): number {
  const upper = text.toUpperCase();
  const [, date = '', finer = ''] = /^(.{10})(?:T.{8}(?:\.\d{1,3}(\d*))?.*)?$/.exec(upper) ?? [];
  const midnight = Date.parse(`${date}T00:00:00.000Z`);
  const ms = Date.parse(upper.length === 10 ? `${date}T00:00:00.000Z` : upper);
  // The language takes 30 February for 2 March.
  if (Number.isNaN(ms) || Number.isNaN(midnight) || !new Date(midnight).toISOString().startsWith(date)) {
    throw Invalid(`${field}: no such moment`);
  }
  return ms + (/[1-9]/.test(finer) ? 1 : 0);
}

const iso = (ms: number) => new Date(Math.min(Math.max(ms, earliest), latest)).toISOString();
