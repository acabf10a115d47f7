import { PlinthError } from './errors.ts';
import type { Operation } from './operation.ts';
import { isReadOnce } from './uploads.ts';

/** Milliseconds before the first retry. Each further retry waits twice as long, up to `longestDelay`. */
const firstDelay = 250;
const longestDelay = 8_000;
/** In milliseconds. If a server asks for a longer wait, its answer is thrown, so that the caller decides. */
const longestRequest = 60_000;

const repeatableVerbs = new Set(['GET', 'HEAD', 'PUT', 'DELETE']);
const transientStatuses = new Set([429, 502, 503, 504]);

/** Whether repeating an operation has the same effect as calling it once, and its body can be sent twice. */
export function isRepeatable({ verb, read }: Operation, headers: Headers, body: unknown): boolean {
  if (isReadOnce(body)) return false;
  return repeatableVerbs.has(verb) || read === true || headers.has('Idempotency-Key');
}

/** Whether a retry may succeed after this error. */
export function isTransient(error: unknown): error is PlinthError {
  if (!(error instanceof PlinthError)) return false;
  if (error.kind === 'response') return transientStatuses.has(error.status) || isInvited(error);
  return error.kind === 'connection' || error.kind === 'timeout';
}

/**
 * Whether the server itself says when to retry: after a temporary failure, or because the first attempt, whose answer was lost,
 * is still running under the same idempotency key.
 */
const isInvited = ({ status, retryAfter }: PlinthError) =>
  (status === 500 || status === 409) && retryAfter !== undefined;

/**
 * Returns the milliseconds to wait before retry number `repeat`, counted from 0: as long as the server asks for, and at least
 * the back-off. `chance` (0 to 1) spreads clients that failed together. Returns undefined when the wait would be too long.
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

/** Waits. Rejects with the signal's reason as soon as it aborts. */
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
