import type * as T from '../../services/jobs/types.ts';

/** A job that this worker executes. `Payload` is the caller's promise; the server checks only that it is an object. */
export type WorkerJob<Payload = Record<string, unknown>> = Omit<T.Job, 'payload'> & {
  // Written as its members, so that an interface may say the form of a payload as well as a type.
  readonly payload: { readonly [Name in keyof Payload]: Payload[Name] };
};

export interface JobContext {
  /**
   * Aborts at the job's timeout, when another worker has got the job, and when the worker stops before the job has ended. Pass it on to
   * whatever takes long.
   */
  readonly signal: AbortSignal;
}

/**
 * Executes a job and returns its result: JSON of at most 64 KiB, or nothing. What it throws fails the attempt. The same job may be
 * executed twice, by this worker and another one, when the connection to the server is lost meanwhile.
 */
export type JobHandler<Payload = Record<string, unknown>> = {
  // As a method, so that a handler may say of which form its payloads are.
  handle(job: WorkerJob<Payload>, context: JobContext): unknown;
}['handle'];

/** How a step is repeated. Durations are texts such as `5m`. */
export interface StepOptions {
  /** 5 when absent, at most 100. */
  readonly maxAttempts?: number | undefined;
  /** The longest attempt. Without it, the timeout of the workflow ends it. */
  readonly timeout?: string | undefined;
  /** The delays after failed attempts. Without it, those of the workflow. */
  readonly backoff?: T.BackoffCreate | undefined;
}

export interface StepContext {
  /** Aborts when the step takes too long, when another worker has got the run, and when the worker stops. */
  readonly signal: AbortSignal;
  /** The number of this attempt, from 1. */
  readonly attempt: number;
}

/** What the code of a workflow does through it is recorded by the server, and answered from the record when the run is resumed. */
export interface WorkflowContext {
  readonly run: {
    readonly id: string;
    readonly name: string;
    readonly version: number;
    readonly key: string | null;
    readonly tenant: string;
    readonly app: string;
  };
  /**
   * Does some work until one success is recorded, and returns its result, which is JSON. Failed attempts are repeated with growing
   * delays, during which the run occupies nothing; after the last one a `StepFailed` is thrown here. A `JobFailure` that is not
   * retryable is the last one.
   */
  step<Result>(
    name: string,
    work: (context: StepContext) => Result | Promise<Result>,
    options?: StepOptions,
  ): Promise<Result>;
  /** Waits for a duration, also over restarts; the time to wake is recorded first. */
  sleep(name: string, duration: string): Promise<void>;
  /** Waits until a moment. */
  sleepUntil(name: string, moment: string | Date): Promise<void>;
  /** Waits for the oldest signal of this name that no step has received. Returns its payload, or null after the time limit. */
  signal<Payload = unknown>(
    name: string,
    options?: { readonly timeout?: string | undefined },
  ): Promise<Payload | null>;
  /** Enqueues a job once, and returns its id. */
  enqueue(name: string, job: Omit<T.JobInput, 'name'>): Promise<string>;
  /** The time at which it was first called here. */
  now(): Promise<string>;
  uuid(): Promise<string>;
}

/** The code of a workflow. It is executed from the top at every resumption, so it does nothing but through its context. */
export type WorkflowCode<Input = unknown> = {
  run(input: Input, context: WorkflowContext): unknown;
}['run'];

/** A version of a workflow. It is registered when the worker starts. */
export interface WorkflowDefinition extends Pick<
  T.WorkflowInput,
  'description' | 'max_attempts' | 'timeout' | 'backoff'
> {
  /** 1 when absent. A run keeps the version with which it began. */
  readonly version?: number | undefined;
  readonly code: WorkflowCode;
}

export interface WorkerOptions {
  /** What to execute: by queue, then by the name of the job. The queues take turns. */
  readonly queues?: Readonly<Record<string, Readonly<Record<string, JobHandler>>>> | undefined;
  /** The workflows whose runs to execute, by name; several versions of one as an array. With the queues at most 20. */
  readonly workflows?:
    Readonly<Record<string, WorkflowDefinition | readonly WorkflowDefinition[]>> | undefined;
  /** The most jobs and runs at once, 16 by default, at most 1000. No more are taken from the queues. */
  readonly concurrency?: number | undefined;
  /** How long jobs stay with a worker that is not heard of any more, from `5s` to `15m`, `30s` by default. */
  readonly lease?: string | undefined;
  /** How long a request waits for jobs, from `0s` to `20s`, `20s` by default. */
  readonly wait?: string | undefined;
  /** What operators see. By default the host and the process id, or a random id. */
  readonly name?: string | undefined;
  /** Hears what goes wrong: what a handler threw, with its job, and requests that failed. By default it goes to the console. */
  readonly onError?: ((error: unknown, job?: WorkerJob) => void) | undefined;
}

/** A worker that takes jobs from the server and executes them in this process. */
export interface Worker {
  /**
   * Registers the workflows and begins. Resolves when the server has accepted the worker, however long it was away; rejects when the
   * server refuses it, for example because of its credentials.
   */
  start(): Promise<void>;
  /**
   * Takes no more jobs and resolves when those that run have ended, or after the grace, 20 seconds by default: then their signals abort,
   * and the server gives them to other workers. Called again, it may shorten the grace.
   */
  stop(graceMs?: number): Promise<void>;
  /** Resolves when the worker has stopped. */
  readonly done: Promise<void>;
}
