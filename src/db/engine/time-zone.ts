import { LRUCache } from 'lru-cache';
import { Invalid } from '../../lib/errors.ts';

const minute = 60_000;
const day = 24 * 60 * minute;

/** The clock of a time zone. Local times are milliseconds since 1970 as if the zone were UTC. */
export interface TimeZone {
  /** The milliseconds by which the zone is ahead of UTC at an instant. */
  offsetAt(instant: number): number;
  /** The first instant at which the clock shows this local time, or the end of the gap if a clock change skips it. */
  firstInstant(local: number): number;
  /** The instant in (after, until] at which the offset changes; undefined when it is the same at both. */
  changeBetween(after: number, until: number): number | undefined;
}

/** The zones that were asked for: they are few, and a formatter takes long to make. */
const zones = new LRUCache<string, TimeZone>({ max: 500 });

/** @throws Invalid when there is no such zone */
export function timeZone(name: string): TimeZone {
  let zone = zones.get(name);
  if (zone === undefined) {
    zone = createZone(name);
    zones.set(name, zone);
  }
  return zone;
}

function createZone(name: string): TimeZone {
  const format = formatOf(name);
  function offsetAt(instant: number): number {
    const parts: Record<string, number> = {};
    for (const { type, value } of format.formatToParts(instant)) parts[type] = Number(value);
    const { year, month, day, hour, minute, second } = parts as Record<
      'year' | 'month' | 'day' | 'hour' | 'minute' | 'second',
      number
    >;
    return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(instant / 1000) * 1000;
  }

  function changeBetween(after: number, until: number): number | undefined {
    const old = offsetAt(after);
    if (offsetAt(until) === old) return undefined;
    let [low, high] = [after, until];
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (offsetAt(middle) === old) low = middle;
      else high = middle;
    }
    return high;
  }

  return {
    offsetAt,
    changeBetween,
    firstInstant(local) {
      const [before, after] = [offsetAt(local - day), offsetAt(local + day)];
      const early = local - before;
      if (offsetAt(early) === before) return early;
      const late = local - after;
      if (offsetAt(late) === after) return late;
      return changeBetween(Math.min(early, late) - 1, Math.max(early, late)) ?? early;
    },
  };
}

function formatOf(name: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      hourCycle: 'h23',
      ...{
        year: 'numeric',
        month: 'numeric',
        day: 'numeric',
        hour: 'numeric',
        minute: 'numeric',
        second: 'numeric',
      },
    });
  } catch (cause) {
    throw Invalid('timezone: must be the IANA name of a time zone, such as Europe/Berlin', { cause });
  }
}
