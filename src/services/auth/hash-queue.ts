import { RateLimited } from '../../lib/errors.ts';

export interface Queue {
  /** Does the work when its turn comes. @throws RateLimited where too many wait already, or who waits has gone away. */
  run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** @throws RateLimited where `run` would refuse now */
  checkRoom(): void;
}

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

  function checkRoom(): void {
    if (running >= width && waiting.size >= length) throw refusal();
  }

  return {
    checkRoom,
    async run(work, signal) {
      if (signal?.aborted) throw refusal();
      checkRoom();
      if (running < width) running += 1;
      else await turn(signal);
      try {
        return await work();
      } finally {
        // The place is handed over, so that nobody who comes in between takes it.
        const [next] = waiting;
        if (next) next();
        else running -= 1;
      }
    },
  };
}

const refusal = () => RateLimited('too many attempts', { retryAfter: 1 });
