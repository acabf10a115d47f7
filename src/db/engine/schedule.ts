import { Cron } from 'croner';
import { LRUCache } from 'lru-cache';
import { Invalid } from '../../lib/errors.ts';
import { timeZone, type TimeZone } from './time-zone.ts';

/** When a cron entry fires. Instants are milliseconds since 1970. */
export interface Schedule {
  /** The first tick after an instant; undefined when there is none. */
  readonly next: (after: number) => number | undefined;
}

const hour = 3_600_000;
/** No clock is set back by more than this. */
const longestRepeat = 3 * hour;
const longest = 255;
/** Parsed schedules: a process meets the same ones at every tick. */
const parsed = new LRUCache<string, Schedule>({ max: 2_000 });

/**
 * Reads a schedule of five fields. `croner` knows the fields; here they are matched against the local clock, and what a clock change
 * does to a tick is decided: one that is skipped fires at the end of the gap, and a time that comes twice fires once, unless the
 * schedule names no hour and so follows every real minute.
 * @throws Invalid when it is none, or never occurs
 */
export function schedule(text: string, zone: string): Schedule {
  const name = `${text.trim()}\n${zone}`;
  let found = parsed.get(name);
  if (found === undefined) {
    found = parse(text.trim(), timeZone(zone));
    if (found.next(Date.parse('2026-01-01T00:00:00Z')) === undefined)
      throw Invalid('schedule: must have an occurrence');
    parsed.set(name, found);
  }
  return found;
}

function parse(text: string, zone: TimeZone): Schedule {
  const fields = text.split(/[ \t]+/);
  if (fields.length !== 5) throw Invalid('schedule: must have five fields');
  if (text.length > longest) throw Invalid(`schedule: must have at most ${longest} characters`);
  const matcher = matcherOf(fields.join(' '));
  const nextLocal = (after: number): number | undefined => matcher.nextRun(new Date(after))?.getTime();
  const next = fields[1]!.startsWith('*') ? everyHour : fixedHours;
  return { next: (after) => next(after, zone, nextLocal) };
}

function matcherOf(fields: string): Cron {
  try {
    return new Cron(fields, { mode: '5-part', timezone: 'UTC', paused: true });
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message.replace(/^CronPattern: /, '') : 'is invalid';
    throw Invalid(`schedule: ${problem.slice(0, 200)}`, { cause });
  }
}

type NextLocal = (after: number) => number | undefined;

/** Each local time fires at its first instant only. Local times of the last hours may have their instant after `after`. */
function fixedHours(after: number, zone: TimeZone, nextLocal: NextLocal): number | undefined {
  let local = nextLocal(after + zone.offsetAt(after) - longestRepeat);
  while (local !== undefined) {
    const instant = zone.firstInstant(local);
    if (instant > after) return instant;
    local = nextLocal(local);
  }
  return undefined;
}

/** Every real minute counts, also in an hour that comes twice. */
function everyHour(after: number, zone: TimeZone, nextLocal: NextLocal): number | undefined {
  const offset = zone.offsetAt(after);
  const local = nextLocal(after + offset);
  if (local === undefined) return undefined;
  const instant = local - offset;
  const change = zone.changeBetween(after, instant);
  if (change === undefined) return instant;
  const ahead = zone.offsetAt(change);
  // Ticks that the change skips, and one at the moment of the change, are due at once.
  const first = nextLocal(change + Math.min(offset, ahead) - 1);
  const skips = ahead > offset && local < change + ahead;
  if (skips || first === change + ahead) return change;
  return everyHour(change, zone, nextLocal);
}

/** The newest tick up to `now`, if there is one after `tick`; else `tick`. */
export function newestTick({ next }: Schedule, tick: number, now: number): number {
  // From further and further back, so that months of missed minutes are not gone through one by one.
  for (let back = 60_000; now - back > tick; back *= 2) {
    const found = next(now - back);
    if (found !== undefined && found <= now) return lastOf(next, found, now);
  }
  return lastOf(next, tick, now);
}

function lastOf(next: Schedule['next'], tick: number, now: number): number {
  let last = tick;
  for (let one = next(tick); one !== undefined && one <= now; one = next(one)) last = one;
  return last;
}
