import { DomainError } from '../lib/errors.ts';

/** Milliseconds between two checks: a right that was withdrawn lasts for less than a minute. */
const checkMs = 30_000;

/** Tells for how long a caller may do what it was once allowed to do, such as reading a stream. */
export interface StandingRight {
  /** Aborted when the right was withdrawn. */
  readonly signal: AbortSignal;
  end(): void;
}

/**
 * Checks again and again whether the caller still has its right. Only a refusal ends it: that the check itself fails, or that the rate
 * of a key is used up, says nothing about the right.
 */
export function standingRight(check: () => unknown): StandingRight {
  const withdrawn = new AbortController();
  let isChecking = false;
  const timer = setInterval(() => {
    if (isChecking) return;
    isChecking = true;
    void Promise.resolve()
      .then(check)
      .catch((error: unknown) => {
        if (isRefusal(error)) withdrawn.abort();
      })
      .finally(() => (isChecking = false));
  }, checkMs);
  return { signal: withdrawn.signal, end: () => clearInterval(timer) };
}

const isRefusal = (error: unknown): boolean =>
  error instanceof DomainError && (error.kind === 'unauthenticated' || error.kind === 'forbidden');
