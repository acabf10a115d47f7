import { retryAfterMs } from './retry-after.ts';
import { delayAfter } from './schedule.ts';

/** How a request ended: with the head of an answer, or without one, for a reason in words. */
export type Ending =
  | { readonly status: number; readonly retryAfter: string | readonly string[] | undefined }
  | { readonly problem: string };

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

/** What an attempt says about its endpoint's lane. */
export interface LaneEffect {
  /** `failure`: the receiver does not work. `none`: it lives, but the attempt was no success either. */
  readonly sign: 'success' | 'failure' | 'none';
  /** Whether the receiver gets less at once from now on. */
  readonly isOverloaded: boolean;
  /** Milliseconds for which nothing is attempted. */
  readonly pauseMs: number;
  /** Whether the receiver wants nothing any more. */
  readonly isGone: boolean;
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

/** The pause after a 429 that asks for none. */
const usualPauseMs = 30_000;

const neutral: LaneEffect = { sign: 'none', isOverloaded: false, pauseMs: 0, isGone: false };
/** Reasons that no further attempt removes. */
const lasting = new Set(['address not allowed', 'secret unreadable', 'expired']);
/** 4xx that ask to come again, unlike the others, which say that something is wrong with the request. */
const passing = new Set([408, 425, 429]);
const overloaded = new Set([429, 502, 503, 504]);

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
      lane: { ...neutral, sign: 'success' },
    };
  const isRefusal = status >= 400 && status < 500 && !passing.has(status);
  const most = isRefusal ? Math.min(attempted.maxAttempts, rules.clientErrorAttempts) : attempted.maxAttempts;
  const lane = laneEffect(status, retryAfterMs(ending.retryAfter, now));
  const seen = { statusCode: status, error: `http ${status}`, lane };
  if (lane.isGone || attempted.attempt >= most) return { ...seen, result: 'failed', delayMs: null };
  // The lane's deliveries do not all come back at the very end of the pause.
  const delayMs = Math.max(delayAfter(attempted.attempt, chance), lane.pauseMs * (1 + 0.1 * chance));
  return { ...seen, result: 'retry', delayMs };
}

function withoutAnswer(problem: string, { attempt, maxAttempts }: Attempted, chance: number): Outcome {
  const seen = { statusCode: null, error: problem };
  if (lasting.has(problem)) return { ...seen, result: 'failed', delayMs: null, lane: neutral };
  const lane: LaneEffect = { ...neutral, sign: 'failure', isOverloaded: problem.endsWith('timeout') };
  return attempt >= maxAttempts
    ? { ...seen, result: 'failed', delayMs: null, lane }
    : { ...seen, result: 'retry', delayMs: delayAfter(attempt, chance), lane };
}

const laneEffect = (status: number, asked: number | undefined): LaneEffect => ({
  sign: status >= 400 && status < 500 ? 'none' : 'failure',
  isOverloaded: overloaded.has(status),
  pauseMs: status === 429 ? (asked ?? usualPauseMs) : status === 503 ? (asked ?? 0) : 0,
  isGone: status === 410,
});
