import { setTimeout as delay } from 'node:timers/promises';
import { isConnectionError, isContention } from '../errors.ts';
import { nextDelay } from '../../lib/back-off.ts';
import { DomainError } from '../../lib/errors.ts';

/** Milliseconds until the next try; the last one holds for all later failures. */
const pausesMs = [100, 200, 400, 800, 1_600, 3_200, 5_000];

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
      await delay(pauseMs(failures + 1), undefined, { ref: false });
    }
  }
}

/** How long to wait after so many failures in succession, from 1. */
export const pauseMs = (failures: number): number =>
  nextDelay(pausesMs, Math.min(failures, pausesMs.length), Math.random()) ?? 0;
