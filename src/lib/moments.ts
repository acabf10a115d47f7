import { Invalid } from './errors.ts';

/** A parsed moment. */
export interface Moment {
  /** Milliseconds since the epoch. */
  readonly ms: number;
  /** Whether nonzero digits of the second beyond milliseconds were cut off. */
  readonly cut: boolean;
}

/** The range that JavaScript, PostgreSQL and a four-digit year can all represent, in UTC. */
export const earliestMoment = Date.parse('0001-01-01T00:00:00.000Z');
export const latestMoment = Date.parse('9999-12-31T23:59:59.999Z');

const form = /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

/** The most characters of a text that is parsed. */
const longest = 40;

/**
 * Parses an RFC 3339 time. A second 60 is refused: no clock of a computer shows one, and to keep it as another second would change what
 * was said.
 * @throws Invalid, with a message that begins with `field`, for a time that does not exist or is out of range.
 */
export function parseMoment(text: string, field: string): Moment {
  const [, years, months, days, hours, minutes, seconds, fraction = '', sign, offsetHours, offsetMinutes] =
    (text.length <= longest && form.exec(text)) || [];
  const [year, month, day] = [Number(years), Number(months), Number(days)];
  const [hour, minute, second] = [Number(hours), Number(minutes), Number(seconds)];
  const [aheadHours, aheadMinutes] = [Number(offsetHours ?? 0), Number(offsetMinutes ?? 0)];
  const clock = hour <= 23 && minute <= 59 && second <= 59 && aheadHours <= 23 && aheadMinutes <= 59;
  const local = new Date(0);
  local.setUTCFullYear(year, month - 1, day);
  // JavaScript turns 30 February into 1 or 2 March.
  if (!clock || local.getUTCMonth() !== month - 1 || local.getUTCDate() !== day)
    throw Invalid(`${field}: must be a time such as 2026-11-20T09:30:00Z`);
  const millisecond = Number(fraction.slice(0, 3).padEnd(3, '0'));
  const ahead = (aheadHours * 60 + aheadMinutes) * (sign === '-' ? -60_000 : 60_000);
  const ms = local.setUTCHours(hour, minute, second, millisecond) - ahead;
  if (!(ms >= earliestMoment && ms <= latestMoment))
    throw Invalid(`${field}: must lie between 0001-01-01T00:00:00Z and 9999-12-31T23:59:59.999Z`);
  return { ms, cut: /[1-9]/.test(fraction.slice(3)) };
}

/** Formats a moment in the only form that is stored and returned: UTC with milliseconds. */
export const momentText = (ms: number): string => new Date(ms).toISOString();
