import type { Jobs } from '../../../services/jobs/jobs.ts';
import type { Runs } from '../../../services/jobs/runs.ts';
import type * as T from '../../../services/jobs/types.ts';
import type { AttemptContext } from '../attempt.ts';
import { duration } from '../durations.ts';
import { isLoss, isUntaken, repeated } from '../repetition.ts';
import type { WorkerJob } from '../types.ts';

interface RecorderDeps {
  readonly jobs: Jobs;
  readonly runs: Runs;
  readonly onError: (error: unknown) => void;
}

/** The job of the run no longer belongs to this worker. */
export class Lost extends Error {
  override readonly name = 'Lost';
}

/** The server does not accept a value, such as an output that is too large. The fault lies in the workflow's code. */
export class NotRecorded extends Error {
  override readonly name = 'NotRecorded';
}

/**
 * Records the progress of one execution of a run on the server. Each request can be repeated: the first result of a step is kept,
 * and a postponed job is no longer held. Every method throws `Lost` when this execution no longer counts.
 */
export class Recorder {
  readonly #deps: RecorderDeps;
  readonly #job: WorkerJob;
  readonly #context: AttemptContext;

  constructor(deps: RecorderDeps, job: WorkerJob, context: AttemptContext) {
    this.#deps = deps;
    this.#job = job;
    this.#context = context;
  }

  /**
   * Records the end of a step, and returns the end that was recorded first.
   * @throws NotRecorded when the server does not accept it
   */
  save(step: string, end: Omit<T.StepOutput, 'lease_id'>): Promise<T.Step> {
    const { run_id: runId } = this.#job.payload as { run_id: string };
    const body = { lease_id: this.#context.leaseId, ...end };
    return this.#repeated((options) => this.#deps.runs.saveStep({ runId, step, body }, options));
  }

  /** Postpones the run by this many milliseconds, or until a step has received its signal. */
  async snooze(delayMs: number, wait?: { readonly signal: string; readonly step: string }): Promise<void> {
    const body = { lease_id: this.#context.leaseId, delay: duration(delayMs), ...wait };
    await this.#repeated((options) => this.#deps.jobs.snooze({ jobId: this.#job.id, body }, options));
  }

  /** Creates a job, or finds the one that an earlier execution created. Returns its id. */
  async create(job: T.JobInput): Promise<string> {
    return (await this.#repeated((options) => this.#deps.jobs.create({ body: job }, options))).id;
  }

  async #repeated<Result>(
    send: (options: { signal: AbortSignal; retries: number }) => PromiseLike<Result>,
  ): Promise<Result> {
    const { abandoned: signal } = this.#context;
    try {
      const options = { signal, retries: 0 };
      return await repeated(() => send(options), { signal, onFailure: this.#deps.onError });
    } catch (error) {
      if (signal.aborted || isLoss(error)) throw new Lost();
      if (isUntaken(error)) throw new NotRecorded((error as Error).message, { cause: error });
      throw error;
    }
  }
}
