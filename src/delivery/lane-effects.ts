/** What an attempt says about its receiver's lane. */
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

/** The pause after a 429 that asks for none. */
const usualPauseMs = 30_000;

const overloaded = new Set([429, 502, 503, 504]);

export const neutral: LaneEffect = { sign: 'none', isOverloaded: false, pauseMs: 0, isGone: false };
export const success: LaneEffect = { ...neutral, sign: 'success' };

/** @param asked the milliseconds that the receiver asks to wait, if it asks for any */
export const effectOfRefusal = (status: number, asked: number | undefined): LaneEffect => ({
  sign: status >= 400 && status < 500 ? 'none' : 'failure',
  isOverloaded: overloaded.has(status),
  pauseMs: status === 429 ? (asked ?? usualPauseMs) : status === 503 ? (asked ?? 0) : 0,
  isGone: status === 410,
});

/** @param problem why there was no answer, in the words of `problemOf` */
export const effectOfProblem = (problem: string): LaneEffect => ({
  ...neutral,
  sign: 'failure',
  isOverloaded: problem.endsWith('timeout'),
});
