import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../index.ts';
import type { Log } from '../log.ts';
import type { Handler } from './attempt.ts';
import { waitingQueues } from './claim.store.ts';
import type { QueueTally } from './figures.ts';
import type { Hints } from '../hints.ts';
import type { Leases } from './leases.ts';
import { QueueWorker } from './queue-worker.ts';
import { isPassing } from './repetition.ts';
import { createSettler } from './settler.ts';

export interface WorkerDeps {
  readonly db: Database;
  readonly log: Log;
  readonly hints: Hints;
  /** The lease of this process. It begins before the worker does, and ends after it. */
  readonly leases: Leases;
  /** Milliseconds between two looks for jobs of which no hint told; an idle worker looks up to four times less often. */
  readonly pollMs: number;
  readonly maxOutput: number;
  /** The most jobs of a queue that run at once, unless `handle` says. */
  readonly concurrency: number;
}

export interface HandleOptions {
  /** The most jobs of the queue that run at once in this process. */
  readonly concurrency?: number;
  /** `each`: a slot takes its next job only when the end of the last one is recorded. */
  readonly settle?: 'batched' | 'each';
}

/** Executes the jobs of the queues that have handlers. */
export interface Worker {
  handle(queue: string, name: string, handler: Handler, options?: HandleOptions): void;
  /** The ids of the jobs that this process holds. */
  held(): string[];
  /** What this process has done with the jobs of each queue. */
  tallies(): ReadonlyMap<string, Readonly<QueueTally>>;
  /** Forgets the jobs under a lease that has ended. */
  drop(leaseId: string): void;
  start(): void;
  /** Claims nothing more and lets handlers end, for up to `graceMs`; what is left then runs again elsewhere. */
  stop(graceMs: number): Promise<void>;
}

/** The part of the time to stop after which handlers are asked to end. */
const untilAbort = 0.8;

export function createWorker(deps: WorkerDeps): Worker {
  const { db, log, hints, pollMs } = deps;
  const queues = new Map<string, QueueWorker>();
  const settler = createSettler({ db, log, hint: hints.give });
  let started = false;
  let unlisten = () => {};
  let timer: NodeJS.Timeout | undefined;
  let pause = pollMs;

  function onHint(hinted: Iterable<string> | undefined): void {
    pause = pollMs;
    for (const name of hinted ?? queues.keys()) queues.get(name)?.hint();
  }

  /** One statement finds the queues that have jobs waiting. */
  async function poll(): Promise<void> {
    try {
      const waiting = queues.size === 0 ? [] : await waitingQueues(db.background, [...queues.keys()]);
      for (const name of waiting) queues.get(name)?.look();
      pause = Math.min(pause * 2, pollMs * 4);
    } catch (error) {
      pause = pollMs;
      if (!isPassing(error)) log.error({ err: error }, 'waiting jobs could not be looked for');
    }
    if (started) timer = setTimeout(() => void poll(), pause * (0.9 + Math.random() * 0.2)).unref();
  }

  function queueOf(name: string): QueueWorker {
    const known = queues.get(name);
    if (known !== undefined) return known;
    const queue = new QueueWorker({ ...deps, queue: name, settler }, deps.concurrency);
    queues.set(name, queue);
    if (started) queue.look();
    return queue;
  }

  return {
    handle(name, job, handler, { concurrency, settle } = {}) {
      const queue = queueOf(name);
      if (queue.handlers.has(job)) throw new TypeError(`${name}: ${job} has a handler already`);
      queue.handlers.set(job, handler);
      if (concurrency !== undefined) queue.concurrency = concurrency;
      if (settle !== undefined) queue.settlesEach = settle === 'each';
    },

    held: () => [...settler.unsettled(), ...[...queues.values()].flatMap((queue) => queue.held())],
    tallies: () => new Map([...queues].map(([name, { tally }]) => [name, tally])),
    drop: (leaseId) => queues.forEach((queue) => queue.drop(leaseId)),

    start() {
      started = true;
      unlisten = hints.listen(onHint);
      onHint(undefined);
      void poll();
    },

    async stop(graceMs) {
      const all = [...queues.values()];
      if (!started) return settler.close(0);
      started = false;
      const began = performance.now();
      const left = (part: number) => Math.max(0, graceMs * part - (performance.now() - began));
      unlisten();
      clearTimeout(timer);
      await Promise.all(all.map((queue) => queue.drain()));
      const idle = Promise.all(all.map((queue) => queue.idle()));
      if (!(await within(idle, left(untilAbort)))) {
        for (const queue of all) queue.abort('the process ends');
        await within(idle, left(1));
      }
      await settler.close(left(1));
    },
  };
}

/** Whether the work ends within this time. */
async function within(work: Promise<unknown>, ms: number): Promise<boolean> {
  const ended = new AbortController();
  const late = delay(ms, false, { signal: ended.signal }).catch(() => false);
  return Promise.race([work.then(() => true), late]).finally(() => ended.abort());
}
