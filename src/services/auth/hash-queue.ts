import { RateLimited } from '../../lib/errors.ts';

/** Does the work when its turn comes. @throws RateLimited where too many wait already, or who waits has gone away. */
export type Queue = <T>(work: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

/**
 * Runs at most `width` at once and lets at most `length` wait, first come, first served: under overload some are refused and none
 * gets slow. Whoever goes away while waiting leaves the place to others.
 */
export function boundedQueue(width: number, length: number): Queue {
  let running = 0;
  const waiting = new Set<() => void>();

  const turn = (signal: AbortSignal | undefined) =>
    new Promise<void>((resolve, reject) => {
      const begin = () => {
        waiting.delete(begin);
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      const leave = () => {
        waiting.delete(begin);
        reject(refusal());
      };
      waiting.add(begin);
      signal?.addEventListener('abort', leave, { once: true });
    });

  return async (work, signal) => {
    if (signal?.aborted) throw refusal();
    if (running < width) running += 1;
    else if (waiting.size < length) await turn(signal);
    else throw refusal();
    try {
      return await work();
    } finally {
      // The place is handed over, so that nobody who comes in between takes it.
      const [next] = waiting;
      if (next) next();
      else running -= 1;
    }
  };
}

const refusal = () => RateLimited('too many attempts', { retryAfter: 1 });
