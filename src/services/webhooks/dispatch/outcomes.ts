import type { Ending } from '../../../delivery/attempt.ts';
import {
  effectOfProblem,
  effectOfRefusal,
  type LaneEffect,
  neutral,
  success,
} from '../../../delivery/lane-effects.ts';
import { retryAfterMs } from '../../../delivery/retry-after.ts';
import { delayAfter } from './schedule.ts';

/** The delivery that was attempted. */
export interface Attempted {
  /** The number of this attempt, from 1. */
  readonly attempt: number;
  readonly maxAttempts: number;
}

export interface OutcomeRules {
  /** How many attempts a delivery gets that the receiver refuses with a 4xx. */
  readonly clientErrorAttempts: number;
}

/** What an attempt means for its delivery. */
export interface Outcome {
  readonly result: 'delivered' | 'retry' | 'failed';
  readonly statusCode: number | null;
  /** Why it failed; null for a success. */
  readonly error: string | null;
  /** Milliseconds until the next attempt; null when there is none. */
  readonly delayMs: number | null;
  readonly lane: LaneEffect;
}

/** Reasons that no further attempt removes. */
const lasting = new Set(['address not allowed', 'secret unreadable', 'expired']);
/** 4xx that ask to come again, unlike the others, which say that something is wrong with the request. */
const passing = new Set([408, 425, 429]);

/**
 * @param now milliseconds since 1970
 * @param chance a random number from 0 to 1
 */
export function outcomeOf(
  ending: Ending,
  attempted: Attempted,
  rules: OutcomeRules,
  now: number,
  chance: number,
): Outcome {
  if ('problem' in ending) return withoutAnswer(ending.problem, attempted, chance);
  const { status } = ending;
  if (status >= 200 && status < 300)
    return {
      result: 'delivered',
      statusCode: status,
      error: null,
      delayMs: null,
      lane: success,
    };
  const isRefusal = status >= 400 && status < 500 && !passing.has(status);
  const most = isRefusal ? Math.min(attempted.maxAttempts, rules.clientErrorAttempts) : attempted.maxAttempts;
  const lane = effectOfRefusal(status, retryAfterMs(ending.retryAfter, now));
  const seen = { statusCode: status, error: `http ${status}`, lane };
  if (lane.isGone || attempted.attempt >= most) return { ...seen, result: 'failed', delayMs: null };
  // The lane's deliveries do not all come back at the very end of the pause.
  const delayMs = Math.max(delayAfter(attempted.attempt, chance), lane.pauseMs * (1 + 0.1 * chance));
  return { ...seen, result: 'retry', delayMs };
}

function withoutAnswer(problem: string, { attempt, maxAttempts }: Attempted, chance: number): Outcome {
  const seen = { statusCode: null, error: problem };
  if (lasting.has(problem)) return { ...seen, result: 'failed', delayMs: null, lane: neutral };
  const lane = effectOfProblem(problem);
  return attempt >= maxAttempts
    ? { ...seen, result: 'failed', delayMs: null, lane }
    : { ...seen, result: 'retry', delayMs: delayAfter(attempt, chance), lane };
}
