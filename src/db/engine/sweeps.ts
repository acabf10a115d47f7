import { nextDelay } from '../../lib/back-off.ts';
import { oneAtATime } from '../../lib/one-at-a-time.ts';
import type { Database } from '../index.ts';
import type { Log } from '../log.ts';
import { runSweep, type Sweep } from '../sweeps.ts';
import { tallied } from './background-work.ts';
import type { Leases } from './leases.ts';
import { isPassing, pauseMs, repeated } from './repetition.ts';
import { sweepStore } from './sweeps.store.ts';

export interface Sweeps {
  /** Declares a sweep; one that is declared after the start runs as well. */
  declare(sweep: Sweep): void;
  start(): void;
  /** Forgets what ran under a lease that has ended. */
  drop(leaseId: string): void;
  /** Asks the runs in progress to end between two steps, and waits for them. */
  stop(): Promise<void>;
}

export interface SweepsDeps {
  readonly db: Database;
  readonly log: Log;
  readonly leases: Pick<Leases, 'id' | 'isSafe'>;
}

interface Run {
  readonly leaseId: string;
  readonly end: AbortController;
  readonly ended: Promise<void>;
}

/** The most milliseconds between two looks for sweeps that are due: the process that had one may have been killed. */
const lookMs = 5_000;
/** Milliseconds until a sweep that failed runs again, unless it would sooner; the last one holds for all later failures. */
const retriesMs = [1_000, 2_000, 5_000, 10_000, 30_000, 60_000];

/**
 * Runs each sweep when it is due, in one process at a time. All sweeps of a process share one timer and one statement, which asks for
 * what is due; so they cost next to nothing while nothing is due. A run holds its sweep by the lease of its process: a killed process's
 * sweeps run elsewhere when its lease has ended.
 */
export function createSweeps({ db, log, leases }: SweepsDeps): Sweeps {
  const store = sweepStore(db.background);
  const declared = new Map<string, Sweep>();
  const running = new Map<string, Run>();
  const failures = new Map<string, number>();
  let known = 0;
  let missed = 0;
  let started = false;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let lookAt = Infinity;

  /** Looks after this time, unless it will look sooner. */
  function lookIn(ms: number): void {
    const at = performance.now() + ms;
    if (stopped || at >= lookAt) return;
    clearTimeout(timer);
    lookAt = at;
    timer = setTimeout(() => void looks.run(), Math.ceil(ms) + 1).unref();
  }

  const looks = oneAtATime(async () => {
    clearTimeout(timer);
    lookAt = Infinity;
    try {
      lookIn(Math.min(await takeDue(), lookMs));
      missed = 0;
    } catch (error) {
      if (!isPassing(error)) log.error({ err: error }, 'sweeps that are due could not be looked for');
      lookIn(pauseMs(++missed));
    }
  });

  async function takeDue(): Promise<number> {
    await registerNew();
    const names = [...declared.keys()].filter((name) => !running.has(name));
    const leaseId = leases.id();
    if (stopped || names.length === 0 || !leases.isSafe()) return Infinity;
    const { taken, waitMs } = await store.take(names, leaseId);
    // What was taken under a lease that has ended meanwhile, or is given back now, is free.
    if (!stopped && leaseId === leases.id()) for (const name of taken) begin(declared.get(name)!, leaseId);
    return waitMs ?? Infinity;
  }

  async function registerNew(): Promise<void> {
    const count = declared.size;
    if (count === known) return;
    await store.register([...declared.keys()]);
    known = count;
  }

  function begin(sweep: Sweep, leaseId: string): void {
    const end = new AbortController();
    const ended = run(sweep, leaseId, end.signal).finally(() => {
      running.delete(sweep.name);
    });
    running.set(sweep.name, { leaseId, end, ended });
  }

  async function run(sweep: Sweep, leaseId: string, signal: AbortSignal): Promise<void> {
    const { name, everyMs } = sweep;
    const failed = await attempt(sweep, signal);
    // What a stop interrupted is still to be done.
    const dueInMs = signal.aborted ? 0 : failed === 0 ? everyMs : Math.min(everyMs, retryAfter(failed));
    try {
      await repeated(
        () => store.free(name, leaseId, dueInMs),
        () => stopped || leaseId !== leases.id(),
      );
    } catch (error) {
      log.warn(
        { err: error, sweep: name },
        'the end of a sweep could not be recorded, and it will run again',
      );
    }
    lookIn(dueInMs);
  }

  /** Returns how often it has failed in succession. */
  async function attempt(sweep: Sweep, signal: AbortSignal): Promise<number> {
    const { name } = sweep;
    try {
      await tallied(name, () => runSweep(sweep, signal));
      failures.delete(name);
      return 0;
    } catch (error) {
      log.warn({ err: error, sweep: name }, 'a sweep failed and will be tried again');
      failures.set(name, (failures.get(name) ?? 0) + 1);
      return failures.get(name)!;
    }
  }

  return {
    declare(sweep) {
      if (declared.has(sweep.name)) throw new TypeError(`there is a sweep ${sweep.name} already`);
      declared.set(sweep.name, sweep);
      if (started) lookIn(0);
    },
    start() {
      started = true;
      for (const { name, notice } of declared.values())
        if (notice !== undefined) log.info({ sweep: name }, notice);
      void looks.run();
    },
    drop(leaseId) {
      for (const run of running.values()) if (run.leaseId === leaseId) run.end.abort();
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      for (const { end } of running.values()) end.abort();
      await looks.settled();
      await Promise.all([...running.values()].map(({ ended }) => ended));
    },
  };
}

const retryAfter = (failures: number): number =>
  nextDelay(retriesMs, Math.min(failures, retriesMs.length), Math.random()) ?? 0;
