/** How the delays between the attempts of a job grow. */
export interface Backoff {
  readonly type: 'exponential' | 'fixed';
  readonly delayMs: number;
  readonly maxMs: number;
}

/** What judges the end of an attempt. */
export interface Attempted {
  /** The number of the attempt that has ended, from 1. */
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly lostCount: number;
  readonly backoff: Backoff;
}

/** How an attempt failed. */
export interface Failure {
  readonly error: string;
  /** Whether another attempt may help. */
  readonly retryable?: boolean;
  /** Milliseconds until the next attempt, instead of the back-off. */
  readonly retryInMs?: number;
}

/** What becomes of a running job that was not completed. */
export interface Outcome {
  readonly state: 'retrying' | 'failed' | 'pending';
  /** Milliseconds until the job is due; 0 if it never will be. */
  readonly delayMs: number;
  readonly error: string | null;
  /** Whether the attempt does not count. */
  readonly uncounted: boolean;
  /** Whether the worker vanished. */
  readonly lost: boolean;
}

/** The longest error that is kept, in characters. */
const longestError = 2_000;

/** The longest time over which lost jobs are spread, in seconds, before it is halved. */
const widestSpread = 30;

/** The milliseconds before the attempt after failed attempt `attempt`. @param chance from 0 to 1, exclusive */
export function backoffMs({ type, delayMs, maxMs }: Backoff, attempt: number, chance: number): number {
  if (type === 'fixed') return delayMs;
  // Beyond 2^30 every allowed delay exceeds every allowed maximum.
  return chance * Math.min(maxMs, delayMs * 2 ** Math.min(attempt - 1, 30));
}

/** The milliseconds until a lost job is due again; they take a job that kills its workers away from its neighbours. */
export const spreadMs = (lostCount: number, chance: number): number =>
  chance * 500 * Math.min(2 ** Math.min(lostCount, 30), widestSpread);

/** The outcome of an attempt that failed. */
export function afterFailure(job: Attempted, failure: Failure, chance: number): Outcome {
  const error = errorText(failure.error);
  const again = failure.retryable !== false && job.attempt < job.maxAttempts;
  if (!again) return { state: 'failed', delayMs: 0, error, uncounted: false, lost: false };
  const delayMs = failure.retryInMs ?? backoffMs(job.backoff, job.attempt, chance);
  return { state: 'retrying', delayMs, error, uncounted: false, lost: false };
}

/** The outcome of an attempt whose worker vanished. It does not count, but a job that was lost `maxLost` times fails. */
export function afterLoss(job: Attempted, maxLost: number, chance: number): Outcome {
  const lostCount = job.lostCount + 1;
  if (lostCount >= maxLost) {
    const error = `worker lost ${lostCount} times`;
    return { state: 'failed', delayMs: 0, error, uncounted: true, lost: true };
  }
  return { state: 'pending', delayMs: spreadMs(lostCount, chance), error: null, uncounted: true, lost: true };
}

/** The outcome of an attempt that was put off, by its handler or by a worker that ends. */
export const afterPostponement = (delayMs: number): Outcome => ({
  state: 'pending',
  delayMs,
  error: null,
  uncounted: true,
  lost: false,
});

/** A message that can be stored and shown: never empty, not too long, well-formed. */
export function errorText(text: string): string {
  const clean = text.replaceAll('\0', '').toWellFormed().trim();
  return [...(clean === '' ? 'failed without a message' : clean).slice(0, longestError)]
    .join('')
    .toWellFormed();
}

/** The message of whatever a handler threw. */
export function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message || error.name;
  return typeof error === 'string' ? error : 'failed without a message';
}
