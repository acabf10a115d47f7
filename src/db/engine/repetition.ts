import { setTimeout as delay } from 'node:timers/promises';
import { isConnectionError, isContention } from '../errors.ts';
import { DomainError } from '../../lib/errors.ts';

/** Milliseconds between two tries, from the first to the longest; half of each is chance. */
const pauses = { first: 100, longest: 5_000 } as const;

/** Whether the same statement may succeed later: the database is away or busy, or two statements waited for each other. */
export const isPassing = (error: unknown): boolean =>
  isConnectionError(error) ||
  isContention(error) ||
  (error instanceof DomainError && ['storeUnavailable', 'unavailable', 'storeFull'].includes(error.kind));

/**
 * Repeats work whose repetition is harmless until it succeeds, until an error that does not pass, or until `ended` says so.
 * `work` is told how often it failed before.
 */
export async function repeated<T>(work: (failures: number) => Promise<T>, ended: () => boolean): Promise<T> {
  for (let failures = 0; ; failures++) {
    try {
      return await work(failures);
    } catch (error) {
      if (!isPassing(error) || ended()) throw error;
      await delay(pauseMs(failures, Math.random()), undefined, { ref: false });
    }
  }
}

/** @param chance from 0 to 1 */
export const pauseMs = (failures: number, chance: number): number =>
  Math.min(pauses.longest, pauses.first * 2 ** Math.min(failures, 10)) * (0.5 + chance / 2);
