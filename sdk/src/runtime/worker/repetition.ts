import type { PlinthError } from '../errors.ts';
import { pause } from './pause.ts';

const [firstPause, longestPause] = [200, 5_000];
/** The longest pause that a server may ask for. */
const longestAsked = 60_000;

/**
 * Returns the milliseconds to wait after this many failures in a row. The wait doubles up to five seconds, and half of it is
 * random, so that workers do not all return at once to a server that was unreachable. A server that says when to retry is obeyed.
 */
export function pauseAfter(failures: number, error: unknown, chance = Math.random()): number {
  const backOff = Math.min(longestPause, firstPause * 2 ** Math.min(failures - 1, 10)) * (0.5 + chance / 2);
  const asked = Math.min(longestAsked, (callFailure(error)?.retryAfter ?? 0) * 1_000);
  // The server may name the same time to all of them.
  return asked > 0 ? Math.max(backOff, asked * (1 + chance / 4)) : backOff;
}

/**
 * Returns the client's error, if it is one. Compares the name, because the code of workers is loaded separately: anything that it
 * imported from the client would be split off from the client in every bundle.
 */
const callFailure = (error: unknown): PlinthError | undefined =>
  error instanceof Error && error.name === 'PlinthError' ? (error as PlinthError) : undefined;

/** Returns the status with which the server refused a request; undefined for every other error. */
export function statusOf(error: unknown): number | undefined {
  const failure = callFailure(error);
  return failure?.kind === 'response' ? failure.status : undefined;
}

/** Whether the same request would fail again, because the server refused it or because it could not even be sent. */
export function isRefusal(error: unknown): boolean {
  const failure = callFailure(error);
  if (failure === undefined || failure.kind === 'abort') return true;
  const { kind, status, retryAfter } = failure;
  return kind === 'response' && status >= 400 && status < 500 && status !== 429 && retryAfter === undefined;
}

/** Whether the object of the request no longer exists, or no longer belongs to this worker. */
export const isLoss = (error: unknown): boolean => [404, 409].includes(statusOf(error) ?? 0);

/** Whether the server does not accept the content of a request. */
export const isUntaken = (error: unknown): boolean => [400, 413, 422].includes(statusOf(error) ?? 0);

export interface Repetition {
  /** Ends the repetition, also during a pause; the repetition then rejects with the last error. */
  readonly signal: AbortSignal;
  /** Whether to give up after this error. By default a refusal ends the repetition. */
  readonly givesUp?: (error: unknown) => boolean;
  readonly onFailure?: (error: unknown) => void;
}

/** Repeats work until it succeeds, for as long as the server is unreachable or overloaded. */
export async function repeated<Result>(
  work: () => PromiseLike<Result>,
  { signal, givesUp = isRefusal, onFailure }: Repetition,
): Promise<Result> {
  for (let failures = 1; ; failures++) {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted || givesUp(error)) throw error;
      onFailure?.(error);
      await pause(pauseAfter(failures, error), signal);
      if (signal.aborted) throw error;
    }
  }
}
