import type { Ending } from './attempt.ts';
import { effectOfProblem, effectOfRefusal, neutral, success, type LaneEffect } from './lane-effects.ts';
import { lasting } from './problems.ts';
import { retryAfterMs } from './retry-after.ts';

/** What an attempt came to. */
export interface Verdict {
  /** `final`: no further attempt could succeed. */
  readonly result: 'delivered' | 'failed' | 'final';
  /** The status of the answer; null when there was none. */
  readonly statusCode: number | null;
  /** The reason of a failure, in words for the receiver's owner; null when the delivery succeeded. */
  readonly error: string | null;
  /** The seconds that the receiver asks to wait before the next attempt. */
  readonly retryAfter?: number | undefined;
  /** What the attempt says about the receiver. */
  readonly lane: LaneEffect;
}

/** How the status of an answer is judged. */
export interface StatusRules {
  readonly isDelivered: (status: number) => boolean;
  /** Whether no further attempt is made after a failure with this status. */
  readonly isFinal: (status: number) => boolean;
}

/** Every 2xx is a success, and a receiver that answers 410 wants nothing any more. */
export const usualRules: StatusRules = {
  isDelivered: (status) => status >= 200 && status < 300,
  isFinal: (status) => status === 410,
};

/** @param now milliseconds since 1970 */
export function verdictOf(ending: Ending, { isDelivered, isFinal }: StatusRules, now: number): Verdict {
  if ('problem' in ending) return withoutAnswer(ending.problem);
  const { status, retryAfter } = ending;
  if (isDelivered(status)) return { result: 'delivered', statusCode: status, error: null, lane: success };
  const ms = retryAfterMs(retryAfter, now);
  return {
    result: isFinal(status) ? 'final' : 'failed',
    statusCode: status,
    error: `the receiver answered ${status}`,
    retryAfter: ms === undefined ? undefined : ms / 1_000,
    lane: effectOfRefusal(status, ms),
  };
}

const withoutAnswer = (problem: string): Verdict =>
  lasting.has(problem)
    ? { result: 'final', statusCode: null, error: problem, lane: neutral }
    : { result: 'failed', statusCode: null, error: problem, lane: effectOfProblem(problem) };
