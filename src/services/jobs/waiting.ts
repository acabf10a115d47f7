import { oneAtATime } from '../../lib/one-at-a-time.ts';
import { isPassing } from '../../db/engine/repetition.ts';
import type { Database, Log } from '../../db/index.ts';
import type { View } from '../../db/view.ts';
import { Unavailable } from '../../lib/errors.ts';
import { limits } from './limits.ts';
import { takingStore } from './taking.store.ts';

/** A worker that waits for jobs. */
interface Waiter {
  readonly view: View;
  readonly queues: readonly string[];
  readonly resolve: () => void;
}

/** The workers of this process that wait for jobs. */
export interface Waiting {
  /**
   * Resolves when a job may be due in one of these queues, after `ms` at the latest, and when the worker or the server ends.
   * @throws Unavailable when too many wait
   */
  wait(view: View, queues: readonly string[], ms: number, signal: AbortSignal): Promise<void>;
  /** Looks again: there may be more jobs than the worker took that was woken. */
  look(): void;
  start(): void;
  stop(): void;
}

interface WaitingDeps {
  readonly db: Database;
  readonly log: Log;
  /** Aborted when the server begins to stop, which ends all waits. */
  readonly ending: AbortSignal;
  readonly listen: (onHint: (queues: Iterable<string> | undefined) => void) => () => void;
}

/** Milliseconds between two looks while somebody waits: hints may get lost. */
const lookMs = 500;

/**
 * Workers that wait cost no statements of their own: when there may be jobs, one statement looks for all of them, and of those that
 * wish for the same, one is woken.
 */
export function createWaiting({ db, log, ending, listen }: WaitingDeps): Waiting {
  const waiters = new Set<Waiter>();
  let unlisten = () => {};
  let timer: NodeJS.Timeout | undefined;

  const looks = oneAtATime(async () => {
    clearTimeout(timer);
    if (waiters.size === 0 || ending.aborted) return;
    let pauseMs = lookMs;
    try {
      pauseMs = Math.min(lookMs, await wakeThoseWithJobs());
    } catch (error) {
      if (!isPassing(error)) log.error({ err: error }, 'jobs could not be looked for');
    }
    timer = setTimeout(look, Math.ceil(pauseMs) + 1).unref();
  });
  const look = () => void looks.run();

  /** Returns the milliseconds until a job is due that somebody waits for. */
  async function wakeThoseWithJobs(): Promise<number> {
    const wished = new Map<string, { waiter: Waiter; queue: string }>();
    for (const waiter of waiters)
      for (const queue of waiter.queues) {
        const key = JSON.stringify([queue, waiter.view.app, waiter.view.tenant]);
        if (!wished.has(key)) wished.set(key, { waiter, queue });
      }
    const list = [...wished.values()];
    const wishes = list.map(({ waiter: { view }, queue }) => ({ queue, ...view, tenant: view.tenant }));
    let soonest = Infinity;
    for (const { at, due_in } of await takingStore(db.background).prospects(wishes)) {
      if (due_in <= 0) list[at]!.waiter.resolve();
      else soonest = Math.min(soonest, due_in);
    }
    return soonest;
  }

  return {
    async wait(view, queues, ms, signal) {
      if (ending.aborted || signal.aborted) return;
      if (waiters.size >= limits.waiting) throw Unavailable('too many workers are waiting');
      const { promise, resolve } = Promise.withResolvers<void>();
      const waiter = { view, queues, resolve };
      waiters.add(waiter);
      const late = setTimeout(resolve, ms);
      const onAbort = () => resolve();
      signal.addEventListener('abort', onAbort, { once: true });
      // The first one looks at once: a job may have come since it looked itself.
      look();
      await promise;
      waiters.delete(waiter);
      clearTimeout(late);
      signal.removeEventListener('abort', onAbort);
    },
    look,
    start() {
      ending.addEventListener('abort', () => waiters.forEach(({ resolve }) => resolve()), { once: true });
      unlisten = listen((queues) => {
        const hinted = queues === undefined ? undefined : new Set(queues);
        for (const waiter of waiters)
          if (hinted === undefined || waiter.queues.some((queue) => hinted.has(queue))) return look();
      });
    },
    stop() {
      unlisten();
      clearTimeout(timer);
    },
  };
}
