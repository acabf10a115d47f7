import { describe, expect, test } from 'vitest';
import { steadiness } from './leases.ts';

describe('renewals', () => {
  /** Looks every second from `from` to `until`, with renewals at the same times. */
  const looks = (isSteady: ReturnType<typeof steadiness>, from: number, until: number) => {
    let steady = false;
    for (let at = from; at <= until; at += 1_000) steady = isSteady(at, at);
    return steady;
  };

  test('are steady after a whole lease time', () => {
    const isSteady = steadiness(5_000);
    expect(looks(isSteady, 0, 4_000)).toBe(false);
    expect(looks(isSteady, 5_000, 5_000)).toBe(true);
  });

  test('that stop are not steady, and need a lease time again', () => {
    const isSteady = steadiness(5_000);
    expect(looks(isSteady, 0, 9_000)).toBe(true);
    expect(isSteady(9_000, 12_000)).toBe(false);
    expect(looks(isSteady, 13_000, 17_000)).toBe(false);
    expect(looks(isSteady, 18_000, 18_000)).toBe(true);
  });

  test('after a pause of the whole process are not steady', () => {
    const isSteady = steadiness(5_000);
    looks(isSteady, 0, 9_000);
    expect(isSteady(60_000, 60_000)).toBe(false);
  });
});
