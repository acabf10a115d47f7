import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { newestTick, schedule } from './schedule.ts';

const iso = (ms: number | undefined) =>
  ms === undefined ? undefined : new Date(ms).toISOString().slice(0, 16);

function ticks(text: string, zone: string, from: string, count: number) {
  const list: (string | undefined)[] = [];
  let at: number | undefined = Date.parse(from);
  for (let left = count; left > 0 && at !== undefined; left--) {
    at = schedule(text, zone).next(at);
    list.push(iso(at));
  }
  return list;
}

test.each([
  [
    '30 2 * * *',
    'Europe/Berlin',
    '2026-03-28T00:00Z',
    ['2026-03-28T01:30', '2026-03-29T01:00', '2026-03-30T00:30'],
  ],
  [
    '30 2 * * *',
    'Europe/Berlin',
    '2026-10-24T00:00Z',
    ['2026-10-24T00:30', '2026-10-25T00:30', '2026-10-26T01:30'],
  ],
  ['30 2 * * *', 'Europe/Berlin', '2026-10-25T00:45Z', ['2026-10-26T01:30']],
  [
    '*/30 * * * *',
    'Europe/Berlin',
    '2026-10-25T00:00Z',
    ['2026-10-25T00:30', '2026-10-25T01:00', '2026-10-25T01:30', '2026-10-25T02:00'],
  ],
  [
    '*/30 * * * *',
    'Europe/Berlin',
    '2026-03-29T00:00Z',
    ['2026-03-29T00:30', '2026-03-29T01:00', '2026-03-29T01:30'],
  ],
  [
    '*/20 2 * * *',
    'Europe/Berlin',
    '2026-03-28T12:00Z',
    ['2026-03-29T01:00', '2026-03-30T00:00', '2026-03-30T00:20'],
  ],
  [
    '*/20 2 * * *',
    'Europe/Berlin',
    '2026-10-24T12:00Z',
    ['2026-10-25T00:00', '2026-10-25T00:20', '2026-10-25T00:40', '2026-10-26T01:00'],
  ],
  [
    '15 * * * *',
    'Australia/Lord_Howe',
    '2026-04-04T13:30Z',
    ['2026-04-04T14:15', '2026-04-04T15:45', '2026-04-04T16:45'],
  ],
  [
    '0 0 1 * 1',
    'UTC',
    '2026-11-20T00:00Z',
    ['2026-11-23T00:00', '2026-11-30T00:00', '2026-12-01T00:00', '2026-12-07T00:00'],
  ],
  ['0 0 29 2 *', 'UTC', '2026-11-20T00:00Z', ['2028-02-29T00:00', '2032-02-29T00:00']],
  [' 0\t0 ? JAN MON ', 'Asia/Kathmandu', '2026-11-20T00:00Z', ['2027-01-03T18:15', '2027-01-10T18:15']],
  ['0 0 L * *', 'UTC', '2026-11-20T00:00Z', ['2026-11-30T00:00', '2026-12-31T00:00']],
  ['0 0 * * 5#2', 'UTC', '2026-11-20T00:00Z', ['2026-12-11T00:00']],
  ['0 0 * * 7', 'UTC', '2026-11-20T00:00Z', ['2026-11-22T00:00']],
])('%s in %s after %s', (text, zone, from, expected) => {
  expect(ticks(text, zone, from, expected.length)).toEqual(expected);
});

test.each([
  ['@hourly', 'must have five fields'],
  ['* * * * * *', 'must have five fields'],
  ['0 0 31 2 *', 'must have an occurrence'],
  ['60 * * * *', 'Invalid value for minute: 60'],
  ['a b c d e', 'schedule: '],
  ['', 'must have five fields'],
])('%j is refused', (text, message) => expect(() => schedule(text, 'UTC')).toThrow(message));

test('an unknown zone is refused', () =>
  expect(() => schedule('* * * * *', 'Mars/Olympus')).toThrow('timezone: must be the IANA name'));

/** A second implementation of simple schedules: it looks at every minute of a clock that is read with another format. */
function slow(minutes: number[], hours: number[] | '*', zone: string, from: number, until: number): number[] {
  const clock = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' });
  const found: number[] = [];
  const seen = new Set<string>();
  const isDue = (local: string) =>
    minutes.includes(Number(local.slice(14, 16))) &&
    (hours === '*' || hours.includes(Number(local.slice(11, 13))));
  let before = Date.parse(`${clock.format(from - 60_000).replace(' ', 'T')}Z`);
  for (let at = from; at < until; at += 60_000) {
    const local = clock.format(at);
    const now = Date.parse(`${local.replace(' ', 'T')}Z`);
    let due = isDue(local) && (hours === '*' || !seen.has(local));
    for (let skipped = before + 60_000; skipped < now; skipped += 60_000)
      due ||= isDue(new Date(skipped).toISOString().replace('T', ' '));
    if (due) found.push(at);
    seen.add(local);
    before = now;
  }
  return found;
}

describe('around clock changes', () => {
  const zones = [
    'Europe/Berlin',
    'America/New_York',
    'Australia/Lord_Howe',
    'Asia/Kathmandu',
    'America/St_Johns',
    'Africa/Casablanca',
  ];
  const numbers = (most: number) =>
    fc.uniqueArray(fc.integer({ min: 0, max: most }), { minLength: 1, maxLength: 4 });
  const changes = [
    '2026-03-08',
    '2026-03-29',
    '2026-04-05',
    '2026-10-04',
    '2026-10-25',
    '2026-11-01',
    '2026-06-15',
  ];

  test('two implementations agree', () => {
    fc.assert(
      fc.property(
        numbers(59),
        fc.oneof(fc.constant('*' as const), numbers(5)),
        fc.constantFrom(...zones),
        fc.constantFrom(...changes),
        (minutes, hours, zone, date) => {
          const from = Date.parse(`${date}T00:00Z`) - 12 * 3_600_000;
          const until = from + 36 * 3_600_000;
          const plan = schedule(`${minutes.join(',')} ${hours === '*' ? '*' : hours.join(',')} * * *`, zone);
          const list: number[] = [];
          for (let at = plan.next(from - 1); at !== undefined && at < until; at = plan.next(at))
            list.push(at);
          // The first hours may repeat a time that began before the look.
          expect(list.map(iso)).toEqual(slow(minutes, hours, zone, from, until).map(iso));
        },
      ),
      { numRuns: 150, seed: 7 },
    );
  });
});

describe('the newest missed tick', () => {
  const at = (text: string) => Date.parse(text);
  test.each([
    ['* * * * *', '2026-01-01T00:00Z', '2026-06-01T10:30:20Z', '2026-06-01T10:30'],
    ['0 0 1 1 *', '2020-01-01T00:00Z', '2026-06-01T00:00Z', '2026-01-01T00:00'],
    ['30 2 * * *', '2026-06-01T02:30Z', '2026-06-01T02:30:30Z', '2026-06-01T02:30'],
  ])('of %s since %s at %s', (text, tick, now, expected) =>
    expect(iso(newestTick(schedule(text, 'UTC'), at(tick), at(now)))).toBe(expected),
  );
});
