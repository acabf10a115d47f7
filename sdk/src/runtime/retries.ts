import { PlinthError } from './errors.ts';
import type { Operation } from './operation.ts';
import { isReadOnce } from './uploads.ts';

/** Milliseconds before the first repeat; each further one waits twice as long, up to the longest. */
const firstDelay = 250;
const longestDelay = 8_000;
/** Milliseconds: a server that asks for more gets its answer thrown, so that the caller decides. */
const longestRequest = 60_000;

const repeatableVerbs = new Set(['GET', 'HEAD', 'PUT', 'DELETE']);
const transientStatuses = new Set([429, 502, 503, 504]);

/** Whether doing it twice is the same as doing it once, and its body can be sent twice. */
export function isRepeatable({ verb, read }: Operation, headers: Headers, body: unknown): boolean {
  if (isReadOnce(body)) return false;
  return repeatableVerbs.has(verb) || read === true || headers.has('Idempotency-Key');
}

/** Whether a repeat may succeed where this failed. */
export function isTransient(error: unknown): error is PlinthError {
  if (!(error instanceof PlinthError)) return false;
  if (error.kind === 'response') return transientStatuses.has(error.status) || isUnfinished(error);
  return error.kind === 'connection' || error.kind === 'timeout';
}

/** The first try, whose answer was lost, is still running under the same idempotency key. */
const isUnfinished = ({ status, retryAfter }: PlinthError) => status === 409 && retryAfter !== undefined;

/**
 * Milliseconds to wait before repeat number `repeat`, counted from 0: as long as the server asks for, and never less
 * than the back-off. `chance` (0 to 1) spreads clients that failed together. Undefined: do not wait that long.
 */
export function delayBefore(
  repeat: number,
  retryAfter: number | undefined,
  chance: number,
): number | undefined {
  const backOff = Math.min(longestDelay, firstDelay * 2 ** repeat) * (0.5 + chance / 2);
  const asked = (retryAfter ?? 0) * 1000;
  return asked > longestRequest ? undefined : Math.max(backOff, asked);
}

/** Waits; rejects with the signal's reason as soon as it aborts. */
export function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error);
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, milliseconds);
    signal?.addEventListener('abort', abort, { once: true });
  });
}
