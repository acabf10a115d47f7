import type { Jobs } from '../../services/jobs/jobs.ts';
import type { Leases } from '../../services/jobs/leases.ts';
import type { Runs } from '../../services/jobs/runs.ts';
import type * as T from '../../services/jobs/types.ts';
import type { Workflows } from '../../services/jobs/workflows.ts';
import { Attempt } from './attempt.ts';
import { duration } from './durations.ts';
import { HeldLease } from './lease.ts';
import { pause } from './pause.ts';
import { isRefusal, pauseAfter, repeated } from './repetition.ts';
import { settingsOf, type Settings } from './settings.ts';
import type { WorkerJob, WorkerOptions } from './types.ts';
import { workOf } from './work.ts';

/** The maximum number of results that may wait for the server; beyond it no more jobs are taken. */
const leastUnsettled = 100;
/** The minimum milliseconds between two requests that found no job. */
const leastBetweenMs = 500;
/** The time that a request for jobs may take in addition to its wait. */
const marginMs = 10_000;
/** The time that the last results may take when the worker stops. */
const lastMs = 5_000;

/** The operations of the server that a worker calls. */
export interface Resources {
  readonly jobs: Jobs;
  readonly leases: Leases;
  readonly runs: Runs;
  readonly workflows: Workflows;
}

/** The running part of a worker: takes jobs, executes and reports them. */
export class RunningWorker {
  readonly #settings: Settings;
  readonly #deps;
  readonly #workflows: Workflows;
  readonly #work;
  readonly #held = new Set<HeldLease>();
  /** Aborts when no more jobs should be taken. */
  readonly #stopping = new AbortController();
  #running = 0;
  /** How many times the queues have taken turns. */
  #turn = 0;
  #wake: () => void = () => {};
  #taking: Promise<void> = Promise.resolve();

  constructor({ jobs, leases, runs, workflows }: Resources, options: WorkerOptions) {
    this.#settings = settingsOf(options);
    const { leaseMs, onError } = this.#settings;
    this.#workflows = workflows;
    const onChange = (lease: HeldLease) => {
      if (lease.isDone) this.#held.delete(lease);
      this.#wake();
    };
    this.#deps = { jobs, leases, leaseMs, onError, onChange };
    this.#work = workOf({ jobs, runs, onError }, this.#settings);
  }

  /** @throws PlinthError when the server refuses a workflow, or refuses to hand out jobs */
  start(): Promise<void> {
    const begun = this.#begin();
    this.#taking = begun.then(() => this.#takeOn()).catch(() => {});
    return begun;
  }

  /** Takes no more jobs, lets the running ones end until `hurry` resolves, and gives back the rest. */
  async stop(hurry: Promise<unknown>): Promise<void> {
    this.#stopping.abort();
    this.#wake();
    await this.#taking;
    await Promise.race([this.#idle(), hurry]);
    await Promise.all([...this.#held].map((lease) => lease.release(lastMs)));
  }

  async #begin(): Promise<void> {
    const signal = this.#stopping.signal;
    const repetition = { signal, onFailure: this.#settings.onError };
    try {
      for (const { name, body } of this.#settings.registrations)
        await repeated(() => this.#workflows.put({ name, body }, { signal, retries: 0 }), repetition);
      await repeated(() => this.#take(0), repetition);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /** Resolves when no attempt runs and no result waits. */
  async #idle(): Promise<void> {
    while (this.#held.size > 0) await this.#changed();
  }

  async #takeOn(): Promise<void> {
    const signal = this.#stopping.signal;
    for (let failures = 0; !signal.aborted;) {
      try {
        await this.#room();
        if (signal.aborted) return;
        const began = performance.now();
        const isEmpty = !(await this.#take(this.#settings.waitMs));
        failures = 0;
        const left = leastBetweenMs - (performance.now() - began);
        if (isEmpty && left > 0) await pause(left, signal);
      } catch (error) {
        if (signal.aborted) return;
        failures += 1;
        this.#settings.onError(error);
        // A request that is refused now may be accepted later, for example when the rights of a key are restored.
        await pause(pauseAfter(isRefusal(error) ? 10 : failures, error), signal);
      }
    }
  }

  /** Resolves when there is a free slot. */
  async #room(): Promise<void> {
    if (this.#free > 0) return;
    while (this.#free <= 0 && !this.#stopping.signal.aborted) await this.#changed();
    // Jobs that end at the same time make room for one request.
    await new Promise((resolve) => setTimeout(resolve));
  }

  get #free(): number {
    const { concurrency } = this.#settings;
    const unsettled = [...this.#held].reduce((sum, lease) => sum + lease.unsettled, 0);
    const most = Math.max(concurrency, leastUnsettled);
    return Math.min(concurrency - this.#running, most - unsettled);
  }

  /** Asks for as many jobs as there are free slots, and begins them. Returns whether there were any. */
  async #take(waitMs: number): Promise<boolean> {
    const { queues, leaseMs, name: worker } = this.#settings;
    const first = this.#turn++ % queues.length;
    const body: T.LeaseInput = {
      queues: [...queues.slice(first), ...queues.slice(0, first)],
      max_jobs: this.#free,
      duration: duration(leaseMs),
      wait: duration(waitMs),
      worker,
    };
    const signal = this.#stopping.signal;
    const { id, jobs } = await this.#deps.leases.create(
      { body },
      { signal, timeout: waitMs + marginMs, retries: 0 },
    );
    if (id === null || jobs.length === 0) return false;
    const lease = new HeldLease(id, this.#deps);
    this.#held.add(lease);
    for (const job of jobs) void this.#execute(lease, job);
    return true;
  }

  async #execute(lease: HeldLease, job: WorkerJob): Promise<void> {
    this.#running += 1;
    const attempt = new Attempt(job, this.#work(job), lease.id);
    const reported = lease.watch(attempt);
    await attempt.ended;
    this.#running -= 1;
    await reported;
  }

  /** Resolves at the next change of the running attempts or waiting results. */
  #changed(): Promise<void> {
    return new Promise((resolve) => (this.#wake = resolve));
  }
}
