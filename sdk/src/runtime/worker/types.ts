import type * as T from '../../services/jobs/types.ts';

/** A job that this worker executes. `Payload` is the caller's promise; the server checks only that it is an object. */
export type WorkerJob<Payload = Record<string, unknown>> = Omit<T.Job, 'payload'> & {
  // Declared as its members, so that both an interface and a type can describe the form of a payload.
  readonly payload: { readonly [Name in keyof Payload]: Payload[Name] };
};

export interface JobContext {
  /**
   * Aborts at the job's timeout, when another worker has got the job, and when the worker stops before the job has ended. Pass
   * the signal on to anything that takes long.
   */
  readonly signal: AbortSignal;
}

/**
 * Executes a job and returns its result: JSON of at most 64 KiB, or nothing. An exception fails the attempt. The same job may be
 * executed twice, by this worker and by another one, if the connection to the server is lost in between.
 */
export type JobHandler<Payload = Record<string, unknown>> = {
  // A method rather than a property, so that a handler may declare the form of its payloads.
  handle(job: WorkerJob<Payload>, context: JobContext): unknown;
}['handle'];

/** How a step is repeated. Durations are texts such as `5m`. */
export interface StepOptions {
  /** 5 by default, at most 100. */
  readonly maxAttempts?: number | undefined;
  /** The longest time for one attempt. Without it, only the timeout of the workflow ends an attempt. */
  readonly timeout?: string | undefined;
  /** The delays after failed attempts; by default those of the workflow. */
  readonly backoff?: T.BackoffCreate | undefined;
}

export interface StepContext {
  /** Aborts when the step takes too long, when another worker has got the run, and when the worker stops. */
  readonly signal: AbortSignal;
  /** The number of this attempt, from 1. */
  readonly attempt: number;
}

/**
 * The server records everything that a workflow's code does through this context; when the run is resumed, calls are answered
 * from the record.
 */
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
   * Does some work until one success is recorded, and returns its result, which is JSON. Failed attempts are repeated with
   * growing delays, during which the run occupies nothing; after the last attempt this call throws a `StepFailed`. A `JobFailure`
   * that is not retryable makes an attempt the last one.
   */
  step<Result>(
    name: string,
    work: (context: StepContext) => Result | Promise<Result>,
    options?: StepOptions,
  ): Promise<Result>;
  /** Waits for a duration, also across restarts; the time to wake is recorded first. */
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
  /** The time at which this method was first called at this point of the workflow. */
  now(): Promise<string>;
  uuid(): Promise<string>;
}

/** The code of a workflow. It is executed from the top whenever the run is resumed, so it acts only through its context. */
export type WorkflowCode<Input = unknown> = {
  run(input: Input, context: WorkflowContext): unknown;
}['run'];

/** A version of a workflow. It is registered when the worker starts. */
export interface WorkflowDefinition extends Pick<
  T.WorkflowInput,
  'description' | 'max_attempts' | 'timeout' | 'backoff'
> {
  /** 1 by default. A run keeps the version with which it began. */
  readonly version?: number | undefined;
  readonly code: WorkflowCode;
}

export interface WorkerOptions {
  /** The handlers to execute: by queue, then by the name of the job. The queues take turns. */
  readonly queues?: Readonly<Record<string, Readonly<Record<string, JobHandler>>>> | undefined;
  /**
   * The workflows whose runs to execute, by name; several versions of one workflow as an array. At most 20, together with the
   * queues.
   */
  readonly workflows?:
    Readonly<Record<string, WorkflowDefinition | readonly WorkflowDefinition[]>> | undefined;
  /**
   * The maximum number of jobs and runs executed at the same time: 16 by default, at most 1000. The worker takes no more than
   * that from the queues.
   */
  readonly concurrency?: number | undefined;
  /** How long jobs stay with a worker that has stopped responding: from `5s` to `15m`, `30s` by default. */
  readonly lease?: string | undefined;
  /** How long a request waits for jobs: from `0s` to `20s`, `20s` by default. */
  readonly wait?: string | undefined;
  /** The name that operators see. By default the host and the process id, or a random id. */
  readonly name?: string | undefined;
  /**
   * Called with every problem: an exception of a handler, with its job, or a failed request. By default problems go to the
   * console.
   */
  readonly onError?: ((error: unknown, job?: WorkerJob) => void) | undefined;
}

/** A worker that takes jobs from the server and executes them in this process. */
export interface Worker {
  /**
   * Registers the workflows and begins. Resolves when the server has accepted the worker, however long the server was
   * unreachable; rejects when the server refuses the worker, for example because of its credentials.
   */
  start(): Promise<void>;
  /**
   * Takes no more jobs, and resolves when the running ones have ended or the grace period is over, 20 seconds by default. After
   * the grace period the signals of the remaining jobs abort, and the server gives these jobs to other workers. A second call may
   * shorten the grace period.
   */
  stop(graceMs?: number): Promise<void>;
  /** Resolves when the worker has stopped. */
  readonly done: Promise<void>;
}
