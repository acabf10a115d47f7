import { describe, expect, it } from 'vitest';
import { everywhereWait, networkOf, networkWait, secondsToWait, throttleKeys } from './throttle.ts';

describe('the throttle', () => {
  it.each([
    [0, 0],
    [4, 0],
    [5, 1],
    [6, 2],
    [7, 4],
    [10, 32],
    [14, 512],
    [15, 900],
    [16, 900],
    [1_000_000, 900],
  ])('after %d failures from one network %d s', (failures, seconds) => {
    expect(networkWait(failures)).toBe(seconds);
  });

  it.each([
    [0, 0],
    [49, 0],
    [50, 1],
    [51, 2],
    [79, 30],
    [1_000_000, 30],
  ])('after %d failures from everywhere %d s', (failures, seconds) => {
    expect(everywhereWait(failures)).toBe(seconds);
  });

  it('what has passed since the last failure counts; the longer wait decides', () => {
    expect(secondsToWait(undefined, undefined)).toBe(0);
    expect(secondsToWait({ failures: 10, seconds: 2.5 }, undefined)).toBe(30);
    expect(secondsToWait({ failures: 10, seconds: 32 }, undefined)).toBe(0);
    expect(secondsToWait({ failures: 10, seconds: 31.999 }, { failures: 79, seconds: 0 })).toBe(30);
    expect(secondsToWait({ failures: 4, seconds: 0 }, { failures: 49, seconds: 0 })).toBe(0);
  });

  it.each([
    ['203.0.113.7', '203.0.113.255', true],
    ['203.0.113.7', '203.0.114.7', false],
    ['2001:db8:1:2::1', '2001:db8:1:2:ffff::9', true],
    ['2001:db8:1:2::1', '2001:db8:1:3::1', false],
    ['::ffff:203.0.113.7', '203.0.113.8', true],
    ['', '', true],
  ])('%s and %s are of one network: %s', (one, other, same) => {
    expect(networkOf(one) === networkOf(other)).toBe(same);
  });

  it('a known device has a counter of its own; accounts, apps and networks have theirs', () => {
    const attempt = { app: 'default', identifier: 'ada@example.com', ip: '203.0.113.7', deviceId: null };
    const keys = throttleKeys(attempt);
    expect(keys.everywhere).toEqual(keys.account);
    const known = throttleKeys({ ...attempt, deviceId: 'dev_1' });
    expect(known.network).toEqual(keys.network);
    expect(known.everywhere).not.toEqual(keys.everywhere);
    expect(known.account).toEqual(keys.account);
    for (const other of [{ app: 'other' }, { identifier: 'b@example.com' }]) {
      const others = throttleKeys({ ...attempt, ...other });
      expect(others.network).not.toEqual(keys.network);
      expect(others.everywhere).not.toEqual(keys.everywhere);
    }
    expect(throttleKeys({ ...attempt, ip: '198.51.100.1' }).everywhere).toEqual(keys.everywhere);
  });
});
