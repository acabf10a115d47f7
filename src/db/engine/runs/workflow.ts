import type { Log } from '../../log.ts';
import type { Sql } from '../../sql.ts';
import type { JobInput } from '../job.ts';

/** How a step is repeated. Durations are texts such as `5m`. */
export interface StepOptions {
  /** 5 when absent, at most 100. */
  readonly maxAttempts?: number;
  /** The longest attempt. Without it the timeout of the job ends it. */
  readonly timeout?: string;
  readonly backoff?: JobInput['backoff'];
}

export interface StepContext {
  /** Aborts when the step takes too long, or when the process ends. */
  readonly signal: AbortSignal;
  /** The number of this attempt, from 1. */
  readonly attempt: number;
}

/** What the code of a workflow does through it is recorded, and answered from the record when the run is resumed. */
export interface WorkflowContext {
  readonly run: {
    readonly id: string;
    readonly name: string;
    readonly version: number;
    readonly key: string | null;
    readonly tenant: string;
    readonly app: string;
  };
  readonly log: Log;
  /**
   * Does some work until one success is recorded, and returns its result, which is JSON. Failed attempts are repeated with growing
   * delays, during which the run occupies nothing; after the last one the error is thrown here.
   */
  step<T>(name: string, work: (context: StepContext) => T | Promise<T>, options?: StepOptions): Promise<T>;
  /** Does some work in a transaction that also records it: it takes effect exactly once. */
  tx<T>(name: string, work: (tx: Sql) => Promise<T>): Promise<T>;
  /** Waits, also over restarts; the time to wake is recorded first. */
  sleep(name: string, duration: string): Promise<void>;
  sleepUntil(name: string, moment: string): Promise<void>;
  /** Waits for the oldest signal of this name that no step has received. Returns its payload, or null after the time limit. */
  signal<T = unknown>(name: string, options?: { readonly timeout?: string }): Promise<T | null>;
  /** Enqueues a job exactly once, and returns its id. */
  enqueue(name: string, job: Omit<JobInput, 'name'>): Promise<string>;
  /** The time at which it was first called here. */
  now(): Promise<string>;
  uuid(): Promise<string>;
}

/** The code of a workflow. It is executed from the top at every resumption, so it does nothing but through its context. */
export type WorkflowCode<Input = unknown> = (input: Input, context: WorkflowContext) => unknown;

export interface WorkflowOptions {
  readonly description?: string;
  readonly max_attempts?: number;
  readonly timeout?: string;
  readonly backoff?: JobInput['backoff'];
  /** The most runs that this process executes at once. */
  readonly concurrency?: number;
}

/** A step failed in all its attempts. */
export class StepFailed extends Error {
  override readonly name = 'StepFailed';
  readonly step: string;
  constructor(step: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.step = step;
  }
}
