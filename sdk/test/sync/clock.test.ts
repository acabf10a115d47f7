import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  compare,
  fromText,
  latestCounter,
  latestTimestamp,
  pack,
  parseText,
  receive,
  tick,
  toText,
  unpack,
  unset,
  type Hlc,
} from '../../src/sync/hlc.ts';

const at = (timestamp: number, counter: number, node_id = 'a'): Hlc => ({ timestamp, counter, node_id });
const first = '[A-Za-z0-9_@]';
const reading = fc.record({
  timestamp: fc.oneof(
    fc.integer({ min: 0, max: latestTimestamp }),
    fc.integer({ min: 5, max: 7 }),
    fc.constant(latestTimestamp),
  ),
  counter: fc.oneof(fc.integer({ min: 0, max: latestCounter }), fc.integer({ min: 0, max: 2 })),
  node_id: fc.oneof(
    fc.constantFrom('', 'a', 'b', 'ab', 'a.', 'a:', 'A', '@5f3c9a1e'),
    fc.stringMatching(new RegExp(`^${first}[A-Za-z0-9_.:-]{0,63}$`)),
  ),
});

describe('a clock', () => {
  it.each([
    [
      'receives a later reading while its own time is behind',
      receive(at(100, 3), at(100, 7, 'b'), 99),
      at(100, 8),
    ],
    [
      'receives a later reading while its own time is ahead',
      receive(at(100, 3), at(100, 7, 'b'), 101),
      at(101, 0),
    ],
    ['receives an earlier reading', receive(at(100, 3), at(90, 9, 'b'), 50), at(100, 4)],
    ['carries the counter into the time', tick(at(100, 65_535), 100), at(101, 0)],
    ['counts within a millisecond', tick(at(100, 0), 100), at(100, 1)],
    ['starts a millisecond at zero', tick(at(100, 9), 101), at(101, 0)],
  ])('%s', (_, received, expected) => expect(received).toEqual(expected));

  it.each([
    ['an hour back', -3_600_000],
    ['4.9 s ahead', 4_900],
    ['5.0 s ahead', 5_000],
    ['5.1 s ahead', 5_100],
    ['a year ahead', 31_536_000_000],
  ])('stays monotone after its time jumps %s and back', (_, jump) => {
    const now = 1_795_168_000_000;
    let last = at(now, 0);
    for (const wall of [now, now + jump, now + jump + 1, now + 2, now + 3]) {
      const next = tick(last, wall);
      expect(compare(last, next)).toBe(-1);
      last = next;
    }
  });

  it('has a reading for each of a million events in a millisecond', () => {
    let last = at(100, 0);
    for (let event = 0; event < 1_000_000; event += 1) last = tick(last, 100);
    expect(last).toEqual(at(100 + Math.floor(1_000_000 / 65_536), 1_000_000 % 65_536));
  });

  it('ends with the last millisecond of the range', () => {
    expect(tick(at(latestTimestamp, latestCounter - 1), 0)).toEqual(at(latestTimestamp, latestCounter));
    expect(() => tick(at(latestTimestamp, latestCounter), 0)).toThrow(RangeError);
    expect(() => tick(unset, Number.NaN)).not.toThrow();
    expect(() => tick(unset, latestTimestamp + 1)).toThrow(RangeError);
  });

  it('is later than what it was and what it received', () => {
    fc.assert(
      fc.property(reading, reading, fc.integer({ min: 0, max: latestTimestamp }), (own, remote, wall) => {
        fc.pre(own.timestamp < latestTimestamp && remote.timestamp < latestTimestamp);
        const next = receive(own, remote, wall);
        expect(next.node_id).toBe(own.node_id);
        expect(pack(next) > pack(own) && pack(next) > pack(remote)).toBe(true);
      }),
    );
  });
});

describe('a reading', () => {
  it.each([
    [at(1_795_168_000_123, 7, 'phone-1'), '01a1f859d87b-0007-phone-1'],
    [unset, '000000000000-0000-'],
    [
      at(latestTimestamp, latestCounter, '@5f3c9a1e:0000000000000000'),
      '7fffffffffff-ffff-@5f3c9a1e:0000000000000000',
    ],
  ])('%j is written %s and read again', (hlc, text) => {
    expect(toText(hlc)).toBe(text);
    expect(parseText(text)).toEqual(hlc);
    expect(fromText(text)).toEqual(hlc);
    expect(unpack(pack(hlc), hlc.node_id)).toEqual(hlc);
  });

  it.each([
    '',
    'now',
    '01a1f859d87b-0007',
    '8fffffffffff-0000-a',
    '01A1F859D87B-0007-a',
    '01a1f859d87b-0007--a',
  ])('is not read from %j', (text) => expect(parseText(text)).toBeUndefined());

  it('has the order of its text, in each direction', () => {
    fc.assert(
      fc.property(reading, reading, (a, b) => {
        const [left, right] = [Buffer.from(toText(a)), Buffer.from(toText(b))];
        expect(compare(a, b)).toBe(Buffer.compare(left, right));
        expect(compare(b, a)).toBe(Buffer.compare(right, left));
        expect(parseText(toText(a))).toEqual(a);
      }),
    );
  });
});
