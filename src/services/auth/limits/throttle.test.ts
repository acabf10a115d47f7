import { describe, expect, it } from 'vitest';
import type { Waits } from '../../../db/attempts.ts';
import { everywhereWaits, networkWaits, throttled } from './throttle.ts';

/** Interprets the rule as the database does. */
const waitAfter = ({ free, seconds }: Waits, failures: number) =>
  failures < free ? 0 : seconds[Math.min(failures - free, seconds.length - 1)];

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
    expect(waitAfter(networkWaits, failures)).toBe(seconds);
  });

  it.each([
    [0, 0],
    [49, 0],
    [50, 1],
    [51, 2],
    [79, 30],
    [1_000_000, 30],
  ])('after %d failures from everywhere %d s', (failures, seconds) => {
    expect(waitAfter(everywhereWaits, failures)).toBe(seconds);
  });

  it('a known device has a counter of its own; accounts, apps and networks have theirs', () => {
    const claim = {
      tenant: 'default',
      app: 'default',
      identifier: 'ada@example.com',
      ip: '203.0.113.7',
      deviceId: null,
    };
    const everywhere = (change: Partial<typeof claim> | { deviceId: string }) =>
      throttled({ ...claim, ...change }).counters.find(({ waits }) => waits === everywhereWaits)!.key;
    const attempt = throttled(claim);
    expect(everywhere({})).toEqual(attempt.account);
    const known = throttled({ ...claim, deviceId: 'dev_1' });
    expect(known.network).toEqual(attempt.network);
    expect(everywhere({ deviceId: 'dev_1' })).not.toEqual(everywhere({}));
    expect(known.account).toEqual(attempt.account);
    for (const other of [{ app: 'other' }, { identifier: 'b@example.com' }]) {
      expect(throttled({ ...claim, ...other }).network).not.toEqual(attempt.network);
      expect(everywhere(other)).not.toEqual(everywhere({}));
    }
    expect(everywhere({ ip: '198.51.100.1' })).toEqual(everywhere({}));
  });
});
