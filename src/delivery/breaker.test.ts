import { describe, expect, it } from 'vitest';
import { afterAnswer, afterFailure, afterSuccess, coolDownMs, type Breaker } from './breaker.ts';

const now = 1_000_000;
const healthy: Breaker = { breaker: 'closed', consecutive_failures: 0, openings: 0, retry_at: null };
const failed = (times: number, from = healthy) =>
  Array.from({ length: times }).reduce<Breaker>((lane) => afterFailure(lane, now, 1), from);

describe('the breaker', () => {
  it('opens after ten failures in succession', () => {
    expect(failed(9)).toEqual({ ...healthy, consecutive_failures: 9 });
    expect(failed(10)).toEqual({
      breaker: 'open',
      consecutive_failures: 10,
      openings: 1,
      retry_at: now + 30_000,
    });
  });

  it('stays closed when a success lies between them', () => {
    expect(failed(9, afterSuccess(failed(9)))).toMatchObject({ breaker: 'closed', consecutive_failures: 9 });
  });

  it('does not open later because of attempts that began before it opened', () => {
    expect(afterFailure(failed(10), now + 5, 0)).toEqual({ ...failed(10), consecutive_failures: 11 });
  });

  it('opens for longer when the probe fails', () => {
    const probing: Breaker = { ...failed(10), breaker: 'half_open' };
    expect(afterFailure(probing, now, 1)).toMatchObject({
      breaker: 'open',
      openings: 2,
      retry_at: now + 60_000,
    });
  });

  it('closes when the probe succeeds, and remembers that it was open', () => {
    const probing: Breaker = { ...failed(10), breaker: 'half_open' };
    const closed = { breaker: 'closed', consecutive_failures: 0, openings: 1, retry_at: null };
    expect(afterSuccess(probing)).toEqual(closed);
    expect(afterAnswer(probing)).toEqual({ ...closed, consecutive_failures: 10 });
  });

  it('leaves a pause alone for which the receiver asked', () => {
    const paused = { ...healthy, retry_at: now + 500 };
    expect(afterSuccess(paused)).toEqual(paused);
    expect(afterAnswer(paused)).toEqual(paused);
    expect(afterFailure(paused, now, 1)).toEqual({ ...paused, consecutive_failures: 1 });
  });
});

it.each([
  [1, 30_000],
  [2, 60_000],
  [3, 120_000],
  [7, 1_920_000],
  [8, 3_600_000],
  [30_000, 3_600_000],
])('the cool-down of opening %i is up to %i ms, and at least half of it', (openings, ms) => {
  expect(coolDownMs(openings, 1)).toBe(ms);
  expect(coolDownMs(openings, 0)).toBe(ms / 2);
});
