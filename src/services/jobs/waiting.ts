import { LRUCache } from 'lru-cache';
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

/** A look that began at `since` and took nothing from these queues. */
interface Vain {
  readonly view: View;
  readonly queues: readonly string[];
  readonly since: number;
  /** Milliseconds until the next look may take something, as far as is known. */
  readonly nextMs: number | null;
}

/** The workers of this process that wait for jobs. */
export interface Waiting {
  /** Says that a worker took nothing, although something may be due: it is not looked at again before a while, unless a hint comes. */
  found(nothing: Vain): void;
  /**
   * Resolves when a job may be due in one of these queues, after `ms` at the latest, and when the worker or the server ends.
   * @throws Unavailable when too many wait
   */
  wait(view: View, queues: readonly string[], ms: number, signal: AbortSignal): Promise<void>;
  /** Looks again at these queues: there may be more jobs than the worker took that was woken. */
  look(queues: readonly string[]): void;
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

/** The least milliseconds between two looks at jobs that may not start. */
const leastMs = 5;
/** The most queues whose last hint is remembered. */
const mostHints = 10_000;
/** Milliseconds between two looks while somebody waits: hints may get lost. */
const lookMs = 500;

/**
 * Workers that wait cost no statements of their own: when there may be jobs, one statement looks for all of them, and of those that
 * wish for the same, one is woken.
 */
export function createWaiting({ db, log, ending, listen }: WaitingDeps): Waiting {
  const waiters = new Set<Waiter>();
  /** The numbers of waiters by tenant. */
  const counts = new Map<string, number>();
  /** Until when looks are in vain, by what is wished. */
  const vain = new Map<string, number>();
  /** When the last hint for a queue came. */
  const hints = new LRUCache<string, number>({ max: mostHints });
  /** The queues in which there may be jobs that somebody waits for. */
  let asked = new Set<string>();
  /** When all queues are looked at again. */
  let wholeAt = 0;
  let unlisten = () => {};
  let timer: NodeJS.Timeout | undefined;

  const looks = oneAtATime(async () => {
    clearTimeout(timer);
    if (waiters.size === 0 || ending.aborted) return;
    const now = performance.now();
    const isWhole = now >= wholeAt;
    if (isWhole) wholeAt = now + lookMs;
    const queues = isWhole ? undefined : asked;
    asked = new Set();
    let pauseMs: number = lookMs;
    try {
      pauseMs = Math.min(Math.max(leastMs, wholeAt - now), await wakeThoseWithJobs(queues));
    } catch (error) {
      if (!isPassing(error)) log.error({ err: error }, 'jobs could not be looked for');
    }
    timer = setTimeout(() => look(), Math.ceil(pauseMs) + 1).unref();
  });

  function look(queues: Iterable<string> = []): void {
    for (const queue of queues) asked.add(queue);
    void looks.run();
  }

  /** Returns the milliseconds until a job is due that somebody waits for. @param queues those to look at; all when absent */
  async function wakeThoseWithJobs(queues: ReadonlySet<string> | undefined): Promise<number> {
    const wished = new Map<string, { waiter: Waiter; queue: string }>();
    for (const waiter of waiters)
      for (const queue of waiter.queues) {
        if (queues?.has(queue) === false) continue;
        const key = wishOf(waiter.view, queue);
        if (!wished.has(key)) wished.set(key, { waiter, queue });
      }
    const now = performance.now();
    let soonest = Infinity;
    for (const [key, until] of vain)
      if (until <= now) vain.delete(key);
      else if (wished.delete(key)) soonest = Math.min(soonest, until - now);
    const list = [...wished.values()];
    if (list.length === 0) return soonest;
    const wishes = list.map(({ waiter: { view }, queue }) => ({ queue, ...view, tenant: view.tenant }));
    for (const { at, due_in } of await takingStore(db.background).prospects(wishes)) {
      if (due_in <= 0) list[at]!.waiter.resolve();
      else soonest = Math.min(soonest, due_in);
    }
    return soonest;
  }

  return {
    found({ view, queues, since, nextMs }) {
      const until = performance.now() + Math.min(lookMs, Math.max(nextMs ?? lookMs, leastMs));
      for (const queue of queues) if ((hints.get(queue) ?? 0) < since) vain.set(wishOf(view, queue), until);
    },
    async wait(view, queues, ms, signal) {
      if (ending.aborted || signal.aborted) return;
      const tenant = wishOf(view, '');
      const ofTenant = counts.get(tenant) ?? 0;
      if (waiters.size >= limits.waiting || ofTenant >= limits.waitingOfTenant)
        throw Unavailable('too many workers are waiting');
      counts.set(tenant, ofTenant + 1);
      const { promise, resolve } = Promise.withResolvers<void>();
      const waiter = { view, queues, resolve };
      waiters.add(waiter);
      const late = setTimeout(resolve, ms);
      const onAbort = () => resolve();
      signal.addEventListener('abort', onAbort, { once: true });
      // The first one looks at once: a job may have come since it looked itself.
      look(queues);
      await promise;
      waiters.delete(waiter);
      const left = counts.get(tenant)! - 1;
      if (left === 0) counts.delete(tenant);
      else counts.set(tenant, left);
      clearTimeout(late);
      signal.removeEventListener('abort', onAbort);
    },
    look,
    start() {
      ending.addEventListener('abort', () => waiters.forEach(({ resolve }) => resolve()), { once: true });
      unlisten = listen((queues) => {
        if (queues === undefined) vain.clear();
        const hinted = new Set(queues ?? [...waiters].flatMap((waiter) => waiter.queues));
        const now = performance.now();
        for (const queue of hinted) hints.set(queue, now);
        const wished = new Set<string>();
        for (const waiter of waiters)
          for (const queue of waiter.queues)
            if (hinted.has(queue)) {
              vain.delete(wishOf(waiter.view, queue));
              wished.add(queue);
            }
        if (wished.size > 0) look(wished);
      });
    },
    stop() {
      unlisten();
      clearTimeout(timer);
    },
  };
}

/** The name of what a worker wishes: jobs of a queue, in its view. */
const wishOf = ({ app, tenant }: View, queue: string) => JSON.stringify([queue, app, tenant]);
