import { RateLimited, type DomainError } from './errors.ts';

export interface Queue {
  /** Runs the work when its turn comes. @throws RateLimited if too many already wait, or if the waiting caller has gone away */
  run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** @throws RateLimited if `run` would refuse now */
  checkRoom(): void;
  readonly load: () => QueueLoad;
}

/** The state of a queue or a backlog, for the metrics. */
export interface QueueLoad {
  readonly running: number;
  readonly waiting: number;
  /** The number of refusals since its creation. Callers who went away while waiting do not count. */
  readonly refused: number;
}

/** A count of things that were accepted and are still to be done. */
export interface Backlog {
  /** @throws the backlog's error when it is full */
  readonly checkRoom: () => void;
  /** Counts things that were accepted, even when there is no room for them. */
  add(count: number): void;
  /** Counts things that are done. */
  remove(count: number): void;
  readonly load: () => QueueLoad;
}

/**
 * Runs at most `width` calls at once and lets at most `length` wait, first come, first served: under overload some are refused
 * and none becomes slow. A caller who goes away while waiting frees the place.
 */
export function boundedQueue(width: number, length: number, refusal: () => DomainError = ServerBusy): Queue {
  let running = 0;
  let refused = 0;
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
    if (running < width || waiting.size < length) return;
    refused += 1;
    throw refusal();
  }

  return {
    checkRoom,
    load: () => ({ running, waiting: waiting.size, refused }),
    async run(work, signal) {
      if (signal?.aborted) throw refusal();
      checkRoom();
      if (running < width) running += 1;
      else await turn(signal);
      try {
        return await work();
      } finally {
        // The slot is handed over, so that no newcomer takes it in between.
        const [next] = waiting;
        if (next) next();
        else running -= 1;
      }
    },
  };
}

/** Limits how many things may wait to be done together, for example to be written. Nothing of a backlog counts as running. */
export function boundedBacklog(most: number, refusal: () => DomainError = ServerBusy): Backlog {
  let waiting = 0;
  let refused = 0;
  return {
    checkRoom() {
      if (waiting < most) return;
      refused += 1;
      throw refusal();
    },
    add: (count) => void (waiting += count),
    remove: (count) => void (waiting -= count),
    load: () => ({ running: 0, waiting, refused }),
  };
}

/** The caller is not at fault, so the error does not say that they tried too often. */
const ServerBusy = () => RateLimited('the server is busy: try again in a second', { retryAfter: 1 });
