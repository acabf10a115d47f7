import { describe, expect, it } from 'vitest';
import type { LaneEffect } from '../../../delivery/lane-effects.ts';
import { afterAttempt, disablingOf, type Lane } from './lanes.ts';

const now = 10_000_000;
const fresh: Lane = {
  breaker: 'closed',
  consecutive_failures: 0,
  openings: 0,
  retry_at: null,
  window_size: 1,
  failing_since: null,
  last_success_at: null,
};
const success: LaneEffect = { sign: 'success', isOverloaded: false, pauseMs: 0, isGone: false };
const failure: LaneEffect = { ...success, sign: 'failure' };
const after = (lane: Lane, ...effects: LaneEffect[]) =>
  effects.reduce((state, effect) => afterAttempt(state, effect, { maxConcurrency: 20 }, now, 1), lane);
const times = (count: number, effect: LaneEffect) => Array<LaneEffect>(count).fill(effect);

describe('the window', () => {
  it('grows with each success, up to the limit', () => {
    expect(after(fresh, success).window_size).toBe(2);
    expect(after(fresh, ...times(30, success)).window_size).toBe(20);
    expect(
      afterAttempt({ ...fresh, window_size: 50 }, success, { maxConcurrency: 5 }, now, 1).window_size,
    ).toBe(5);
  });

  it('is halved when the receiver has too much to do, and is never empty', () => {
    const overload = { ...failure, isOverloaded: true };
    expect(after({ ...fresh, window_size: 20 }, overload).window_size).toBe(10);
    expect(after({ ...fresh, window_size: 3 }, overload).window_size).toBe(1);
    expect(after(fresh, overload).window_size).toBe(1);
  });

  it('begins anew when the breaker opens', () => {
    expect(after({ ...fresh, window_size: 20 }, ...times(10, failure))).toMatchObject({
      breaker: 'open',
      window_size: 1,
    });
  });
});

describe('the health', () => {
  it('says since when an endpoint fails, and when it last worked', () => {
    expect(after(fresh, failure)).toMatchObject({ failing_since: now, consecutive_failures: 1 });
    expect(after({ ...fresh, failing_since: 5 }, failure)).toMatchObject({ failing_since: 5 });
    expect(after(after(fresh, failure), success)).toMatchObject({
      failing_since: null,
      consecutive_failures: 0,
      last_success_at: now,
    });
  });

  it('forgets openings of the breaker after ten successes', () => {
    const closed = after(
      { ...after(fresh, ...times(10, failure)), breaker: 'half_open' },
      ...times(9, success),
    );
    expect(closed.openings).toBe(1);
    expect(after(closed, success).openings).toBe(0);
  });

  it('of an endpoint that answers 4xx stays as it is', () => {
    const refused: LaneEffect = { ...success, sign: 'none' };
    expect(after({ ...fresh, consecutive_failures: 3 }, refused)).toEqual({
      ...fresh,
      consecutive_failures: 3,
    });
  });
});

it('a pause ends at the later of two moments', () => {
  const pause = (pauseMs: number) => ({ ...failure, pauseMs });
  expect(after(fresh, pause(5_000), pause(1_000)).retry_at).toBe(now + 5_000);
  expect(after(fresh, pause(1_000), pause(5_000)).retry_at).toBe(now + 5_000);
});

describe('an endpoint is disabled', () => {
  const rules = { disableAfterMs: 1_000 };
  it.each<[string, number | null, LaneEffect, number, string | null]>([
    ['at a 410', null, { ...success, sign: 'none', isGone: true }, 1_000, 'gone'],
    ['after it failed for too long', now - 1_000, failure, 1_000, 'failing'],
    ['not before', now - 999, failure, 1_000, null],
    ['not at a 4xx', now - 5_000, { ...failure, sign: 'none' }, 1_000, null],
    ['not when it may fail for ever', now - 5_000, failure, 0, null],
  ])('%s', (_, failing_since, effect, disableAfterMs, reason) => {
    expect(disablingOf({ failing_since }, effect, { ...rules, disableAfterMs }, now)).toBe(reason);
  });
});
