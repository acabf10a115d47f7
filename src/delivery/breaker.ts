import type { LaneEffect } from './lane-effects.ts';

/** The part of a lane that keeps a receiver that does not work from getting more than a probe now and then. */
export interface Breaker {
  readonly breaker: 'closed' | 'open' | 'half_open';
  /** Failures since the last success. */
  readonly consecutive_failures: number;
  /** How often it has opened since the lane was last healthy. */
  readonly openings: number;
  /** Milliseconds since 1970 until which nothing is attempted; null for now. */
  readonly retry_at: number | null;
}

/** Failures in succession after which nothing more is attempted for a while. */
export const mostFailures = 10;
const shortestCoolDownMs = 30_000;
const longestCoolDownMs = 3_600_000;

/** Milliseconds without attempts after so many openings, from 1: twice as long each time, down to half of it by chance. */
export const coolDownMs = (openings: number, chance: number): number =>
  Math.min(shortestCoolDownMs * 2 ** (openings - 1), longestCoolDownMs) * (0.5 + 0.5 * chance);

/** @param now milliseconds since 1970 */
export function afterFailure(lane: Breaker, now: number, chance: number): Breaker {
  const consecutive_failures = lane.consecutive_failures + 1;
  const failed = { ...lane, consecutive_failures };
  // An attempt that began before the breaker opened changes nothing about when it closes.
  if (lane.breaker === 'open' && lane.retry_at !== null && lane.retry_at > now) return failed;
  if (lane.breaker === 'closed' && consecutive_failures < mostFailures) return failed;
  const openings = lane.openings + 1;
  return { ...failed, breaker: 'open', openings, retry_at: now + coolDownMs(openings, chance) };
}

/** The receiver works. A pause for which it asked itself remains. */
export const afterSuccess = (lane: Breaker): Breaker => ({
  ...lane,
  breaker: 'closed',
  consecutive_failures: 0,
  retry_at: lane.breaker === 'closed' ? lane.retry_at : null,
});

/** The receiver answered, which is all that a probe asks. */
export const afterAnswer = (lane: Breaker): Breaker =>
  lane.breaker === 'half_open' ? { ...lane, breaker: 'closed', retry_at: null } : lane;

/** The breaker after an attempt with this effect. It also keeps the pause for which the receiver asks. */
export function afterEffect(lane: Breaker, effect: LaneEffect, now: number, chance: number): Breaker {
  const after = signed(lane, effect, now, chance);
  if (effect.pauseMs === 0) return after;
  return { ...after, retry_at: Math.max(after.retry_at ?? 0, now + effect.pauseMs) };
}

function signed(lane: Breaker, { sign }: LaneEffect, now: number, chance: number): Breaker {
  if (sign === 'none') return afterAnswer(lane);
  return sign === 'failure' ? afterFailure(lane, now, chance) : afterSuccess(lane);
}
