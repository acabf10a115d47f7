import { outsideRequests } from '../../lib/request-scope.ts';
import { measured } from '../../lib/tracing/spans.ts';
import { Conflict, DomainError } from '../../lib/errors.ts';
import type { Database } from '../index.ts';
import type { Log } from '../log.ts';
import type { Sql } from '../sql.ts';
import type { ClaimedJob } from './claim.store.ts';
import { type Job, jsonText } from './job.ts';
import { attempted, graceMs, timeoutText } from './leases.ts';
import { afterFailure, afterPostponement, type Failure, messageOf } from './outcomes.ts';
import { executionOf, type End } from './settler.ts';
import { settleStore } from './settle.store.ts';

/** What a handler may do beside its work. */
export interface JobContext {
  /** Aborts at the job's timeout, when the lease is lost, and shortly before the process ends. */
  readonly signal: AbortSignal;
  /**
   * Completes the job in the handler's own transaction: what the transaction changes takes effect exactly once. Throws when the job was
   * lost to another worker; let that roll the transaction back.
   */
  complete(tx: Sql, output?: unknown): Promise<void>;
  /**
   * Puts the job off by some milliseconds in the handler's own transaction; the attempt does not count. Throws like `complete`. The
   * handler should return after the commit.
   */
  postpone(tx: Sql, delayMs: number): Promise<void>;
  readonly log: Log;
}

/** Does the work of a job and returns its result, any JSON or nothing. An error fails the attempt. */
export type Handler<Payload = unknown> = (job: Job<Payload>, context: JobContext) => unknown;

/** A failure that says whether and when another attempt may help. */
export class JobFailure extends Error {
  override readonly name = 'JobFailure';
  readonly retryable: boolean;
  readonly retryInMs: number | undefined;
  constructor(
    message: string,
    { retryable = true, retryInMs, cause }: { retryable?: boolean; retryInMs?: number; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.retryable = retryable;
    this.retryInMs = retryInMs;
  }
}

/** Thrown by a handler that wants to go on later; the attempt does not count. */
export class Postponed extends Error {
  override readonly name = 'Postponed';
  readonly delayMs: number;
  constructor(delayMs: number) {
    super(`postponed by ${delayMs} ms`);
    this.delayMs = delayMs;
  }
}

export interface Attempt {
  readonly job: ClaimedJob;
  /** Asks the handler to end. */
  abort(reason: string): void;
  /** Resolves with how the attempt ended; undefined when its end is recorded already. Never rejects. */
  readonly ended: Promise<End | undefined>;
}

interface AttemptDeps {
  readonly db: Database;
  readonly log: Log;
  readonly maxOutput: number;
}

/** Executes one job. An attempt that has not ended five seconds after its timeout has failed, even if its handler goes on. */
export function begin(job: ClaimedJob, handler: Handler | undefined, deps: AttemptDeps): Attempt {
  if (handler === undefined) {
    const end = failed(job, { error: `no handler for job ${job.name}` });
    return { job, abort() {}, ended: Promise.resolve(end) };
  }
  const context = new Context(job, deps);
  return { job, abort: (reason) => context.abort(reason), ended: run(job, handler, context, deps) };
}

async function run(
  job: ClaimedJob,
  handler: Handler,
  context: Context,
  deps: AttemptDeps,
): Promise<End | undefined> {
  let late: NodeJS.Timeout;
  const hung = new Promise<typeof hanging>((resolve) => {
    late = setTimeout(() => {
      context.abort(timeoutText(job.timeout_ms));
      late = setTimeout(resolve, graceMs, hanging);
    }, job.timeout_ms);
  });
  try {
    const work = async () => handler(job, context);
    const output = await Promise.race([
      outsideRequests(() => measured(job.name, 'job', { 'plinth.job.id': job.id }, work)),
      hung,
    ]);
    if (output === hanging) return failed(job, { error: timeoutText(job.timeout_ms) });
    if (context.completion === 'committed') return undefined;
    if (context.completion === 'begun')
      return failed(job, { error: 'the transaction that ended the attempt was rolled back' });
    return { output: output === undefined ? null : jsonText(output, 'output', deps.maxOutput) };
  } catch (error) {
    if (context.completion === 'committed') return undefined;
    if (error instanceof Postponed) return { outcome: afterPostponement(error.delayMs) };
    deps.log.debug({ err: error, job: job.id, name: job.name }, 'an attempt of a job failed');
    return failed(job, failureOf(error));
  } finally {
    clearTimeout(late!);
  }
}

const hanging = Symbol('the handler hangs');

const failed = (job: ClaimedJob, failure: Failure): End => ({
  outcome: afterFailure(attempted(job), failure, Math.random()),
});

function failureOf(error: unknown): Failure {
  if (!(error instanceof JobFailure)) return { error: messageOf(error) };
  const { message, retryable, retryInMs } = error;
  return { error: message, retryable, ...(retryInMs === undefined ? {} : { retryInMs }) };
}

class Context implements JobContext {
  readonly #job: ClaimedJob;
  readonly #deps: AttemptDeps;
  #controller: AbortController | undefined;
  #reason: Error | undefined;
  completion: 'none' | 'begun' | 'committed' = 'none';

  constructor(job: ClaimedJob, deps: AttemptDeps) {
    this.#job = job;
    this.#deps = deps;
  }

  /** Made when a handler asks for it: most never do. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    return this.#controller.signal;
  }

  get log(): Log {
    return this.#deps.log;
  }

  abort(reason: string): void {
    this.#reason ??= new Error(reason);
    this.#controller?.abort(this.#reason);
  }

  async complete(tx: Sql, output?: unknown): Promise<void> {
    const text = output === undefined ? null : jsonText(output, 'output', this.#deps.maxOutput);
    this.completion = 'begun';
    const [done] = await settleStore(tx).complete([{ ...executionOf(this.#job), output: text }]);
    if (done === undefined) throw JobLost();
    this.#deps.db.afterCommit(tx, () => (this.completion = 'committed'));
  }

  async postpone(tx: Sql, delayMs: number): Promise<void> {
    this.completion = 'begun';
    const outcome = afterPostponement(delayMs);
    const [put] = await settleStore(tx).putBack([{ ...executionOf(this.#job), outcome }]);
    if (put === undefined) throw JobLost();
    this.#deps.db.afterCommit(tx, () => (this.completion = 'committed'));
  }
}

/** The job belongs to another worker by now, or has ended. */
export const JobLost = (): DomainError => Conflict('job is not held by this lease');
