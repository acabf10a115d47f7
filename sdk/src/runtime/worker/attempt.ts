import { duration, longestDelay, longestRepetition, milliseconds } from './durations.ts';
import { isJobFailure, isPostponed, messageOf } from './failures.ts';
import type { WorkerJob } from './types.ts';

/** How an attempt ended. */
export type End =
  | { readonly kind: 'completed'; readonly output: unknown; readonly bytes: number }
  | {
      readonly kind: 'failed';
      readonly error: string;
      readonly retryable: boolean;
      readonly retryIn: string | undefined;
    }
  | { readonly kind: 'postponed'; readonly delay: string }
  /** The server already knows the end, or another worker has the job. */
  | { readonly kind: 'recorded' };

/** What the work of an attempt receives besides its job. */
export interface AttemptContext {
  /** Aborts when the attempt has to end: at its timeout, or when the attempt is abandoned. */
  readonly signal: AbortSignal;
  /** Aborts when the result of the attempt no longer counts. */
  readonly abandoned: AbortSignal;
  readonly leaseId: string;
  /** When the job arrived, by the clock of `performance.now`. */
  readonly arrivedAt: number;
}

/** Executes a job: the handler of its name, or one execution of a run. */
export type Work = (job: WorkerJob, context: AttemptContext) => Promise<End>;

export const recorded: End = { kind: 'recorded' };

/** How long after its timeout an unfinished attempt counts as failed: a little less than the server waits for it. */
const hangMs = 4_000;
const longestTimeout = 24 * 3_600_000;

/** One execution of a job. */
export class Attempt {
  readonly job: WorkerJob;
  /** Resolves when the attempt has ended, or when it hangs and therefore counts as ended. Never rejects. */
  readonly ended: Promise<End>;
  readonly #controller = new AbortController();
  readonly #abandoning = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #hangs: (end: End) => void = () => {};

  constructor(job: WorkerJob, work: Work, leaseId: string) {
    this.job = job;
    const context: AttemptContext = {
      signal: this.#controller.signal,
      abandoned: this.#abandoning.signal,
      leaseId,
      arrivedAt: performance.now(),
    };
    const hanging = new Promise<End>((resolve) => (this.#hangs = resolve));
    this.#timer = setTimeout(
      () => this.#timeOut(),
      milliseconds(job.timeout, 'timeout', [0, longestTimeout]),
    );
    this.ended = Promise.race([ended(job, work, context), hanging]).finally(() => {
      clearTimeout(this.#timer);
      // Anything that the work started and did not finish does not count.
      this.#abandoning.abort();
    });
  }

  /** Asks the work to end. Its result will not count, and nothing waits for it. */
  abandon(reason: string): void {
    this.#abandoning.abort();
    this.#controller.abort(new Error(reason));
    this.#hangs(recorded);
  }

  #timeOut(): void {
    const error = `timed out after ${this.job.timeout}`;
    this.#controller.abort(new Error(error));
    const end: End = { kind: 'failed', error, retryable: true, retryIn: undefined };
    this.#timer = setTimeout(() => this.#hangs(end), hangMs);
  }
}

async function ended(job: WorkerJob, work: Work, context: AttemptContext): Promise<End> {
  try {
    // The caller finishes what it is doing before the first handler begins.
    await Promise.resolve();
    return await work(job, context);
  } catch (error) {
    return endOf(error);
  }
}

/** The end of an attempt whose work returned something. */
export function completed(output: unknown): End {
  const text = JSON.stringify(output) as string | undefined;
  // Functions and symbols have no JSON text either.
  if (text === undefined) return { kind: 'completed', output: null, bytes: 4 };
  return { kind: 'completed', output, bytes: new TextEncoder().encode(text).length };
}

/** The end of an attempt whose work threw something. */
export function endOf(thrown: unknown): End {
  if (isPostponed(thrown)) return { kind: 'postponed', delay: bounded(thrown.delay, longestDelay) ?? '0s' };
  if (!isJobFailure(thrown))
    return { kind: 'failed', error: messageOf(thrown), retryable: true, retryIn: undefined };
  const { retryable, retryIn } = thrown;
  const delay = retryIn === undefined ? undefined : bounded(retryIn, longestRepetition);
  return { kind: 'failed', error: messageOf(thrown), retryable, retryIn: delay };
}

/**
 * Converts a duration to the server's notation. An invalid duration must not prevent the end of the attempt from being recorded.
 */
function bounded(text: string, most: number): string | undefined {
  try {
    return duration(Math.min(most, milliseconds(text, 'delay', [0, Infinity])));
  } catch {
    return undefined;
  }
}
