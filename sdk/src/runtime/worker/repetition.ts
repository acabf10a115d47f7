import type { PlinthError } from '../errors.ts';
import { pause } from './pause.ts';

const [firstPause, longestPause] = [200, 5_000];
/** The longest pause that a server may ask for. */
const longestAsked = 60_000;

/**
 * The milliseconds to wait after so many failures in a row: they double up to five seconds, half of them by chance, so that the workers
 * of a server that was away do not come back all at once. A server that says when to come again is obeyed.
 */
export function pauseAfter(failures: number, error: unknown, chance = Math.random()): number {
  const backOff = Math.min(longestPause, firstPause * 2 ** Math.min(failures - 1, 10)) * (0.5 + chance / 2);
  const asked = Math.min(longestAsked, (callFailure(error)?.retryAfter ?? 0) * 1_000);
  // The server may ask all of them for the same time.
  return asked > 0 ? Math.max(backOff, asked * (1 + chance / 4)) : backOff;
}

/**
 * The client's error, if it is one. Compares the name, because the code of workers is loaded apart: what it imported from the client would
 * be split off from the client in every bundle.
 */
const callFailure = (error: unknown): PlinthError | undefined =>
  error instanceof Error && error.name === 'PlinthError' ? (error as PlinthError) : undefined;

/** The status by which the server refused a request; undefined for every other error. */
export function statusOf(error: unknown): number | undefined {
  const failure = callFailure(error);
  return failure?.kind === 'response' ? failure.status : undefined;
}

/** Whether the same request would fail again: the server refused it, or it could not even be sent. */
export function isRefusal(error: unknown): boolean {
  const failure = callFailure(error);
  if (failure === undefined || failure.kind === 'abort') return true;
  const { kind, status, retryAfter } = failure;
  return kind === 'response' && status >= 400 && status < 500 && status !== 429 && retryAfter === undefined;
}

/** Whether what the request names is not there any more, or not in the hands of this worker. */
export const isLoss = (error: unknown): boolean => [404, 409].includes(statusOf(error) ?? 0);

/** Whether the server does not take the content of a request. */
export const isUntaken = (error: unknown): boolean => [400, 413, 422].includes(statusOf(error) ?? 0);

export interface Repetition {
  /** Ends the repetition, also during a pause; it then rejects with the last error. */
  readonly signal: AbortSignal;
  /** Whether it is given up after this error. Without it, refusals are. */
  readonly givesUp?: (error: unknown) => boolean;
  readonly onFailure?: (error: unknown) => void;
}

/** Does something again until it succeeds, for as long as the server is away or overloaded. */
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
