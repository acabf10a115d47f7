import type * as T from '../../../services/jobs/types.ts';
import type { AttemptContext } from '../attempt.ts';
import { longestDelay, longestRepetition, milliseconds } from '../durations.ts';
import { pause } from '../pause.ts';
import { isJobFailure, messageOf, StepFailed } from '../failures.ts';
import type { StepContext, StepOptions, WorkerJob, WorkflowContext } from '../types.ts';
import { backoffMs } from './backoff.ts';
import { serverClock } from './clock.ts';
import { Lost, NotRecorded, type Recorder } from './recorder.ts';
import { suspend, type Wait } from './waits.ts';
import { within } from './within.ts';

interface ExecutionDeps {
  readonly job: WorkerJob;
  readonly context: AttemptContext;
  readonly recorder: Recorder;
  readonly run: T.WorkflowRun;
  readonly steps: readonly T.Step[];
}

/** Shorter waits keep the slot, because returning the job to the queue costs more. */
const shortWaitMs = 5_000;
const [defaultAttempts, mostAttempts] = [5, 100];
/** How long the key of a step identifies its job: longer than any attempt to enqueue the job again. */
const uniqueFor = '720h';

/**
 * One execution of a run. When it has to wait, or no longer counts, it never returns to the code of the workflow: a promise that
 * settles could be mistaken for a failure that requires compensation.
 */
export class Execution implements WorkflowContext {
  readonly run: WorkflowContext['run'];
  /** Resolves when the run was postponed or no longer counts; rejects when the attempt has failed. */
  readonly suspended: Promise<void>;
  readonly #deps: ExecutionDeps;
  readonly #steps: ReadonlyMap<string, T.Step>;
  readonly #now: () => number;
  readonly #names = new Map<string, number>();
  readonly #waits: Wait[] = [];
  #suspend: () => void = () => {};
  #fail: (error: unknown) => void = () => {};
  #active = 0;
  #isOver = false;

  constructor(deps: ExecutionDeps) {
    const { job, context, run, steps } = deps;
    this.#deps = deps;
    const { id, name, version, key, scope_org_id: tenant, scope_app_id: app } = run;
    this.run = { id, name, version, key, tenant, app };
    this.#steps = new Map(steps.map((step) => [step.name, step]));
    this.#now = serverClock(job, context.arrivedAt);
    this.suspended = new Promise((resolve, reject) => {
      this.#suspend = resolve;
      this.#fail = reject;
    });
    this.suspended.catch(() => {});
  }

  /** The workflow's code has ended; anything that it started and did not await does not count. */
  end(): void {
    this.#isOver = true;
  }

  step<Result>(
    name: string,
    work: (context: StepContext) => Result | Promise<Result>,
    options: StepOptions = {},
  ): Promise<Result> {
    const most = Math.min(options.maxAttempts ?? defaultAttempts, mostAttempts);
    const { timeout } = options;
    const timeoutMs =
      timeout === undefined ? undefined : milliseconds(timeout, 'timeout', [0, longestRepetition]);
    return this.#once<Result>(name, async (key, attempt) => {
      try {
        const output = await within(
          (signal) => work({ signal, attempt }),
          this.#deps.context.signal,
          timeoutMs,
        );
        return { output };
      } catch (error) {
        if (this.#isDead()) return this.#never();
        if (attempt >= most || (isJobFailure(error) && !error.retryable)) return { error };
        const own = isJobFailure(error) ? error.retryIn : undefined;
        const delayMs =
          own === undefined
            ? backoffMs(options.backoff ?? this.#deps.job.backoff, attempt)
            : milliseconds(own, 'retryIn', [0, longestRepetition]);
        return { wait: { for: 'retry', step: key, error: messageOf(error), delayMs } };
      }
    });
  }

  async sleep(name: string, text: string): Promise<void> {
    const ms = milliseconds(text, name, [0, longestDelay]);
    await this.#sleepUntil(name, () => new Date(this.#now() + ms).toISOString());
  }

  async sleepUntil(name: string, moment: string | Date): Promise<void> {
    const time = new Date(moment).getTime();
    if (Number.isNaN(time)) throw new TypeError(`${name}: must be a moment`);
    await this.#sleepUntil(name, () => new Date(time).toISOString());
  }

  async signal<Payload = unknown>(
    name: string,
    { timeout }: { readonly timeout?: string | undefined } = {},
  ): Promise<Payload | null> {
    const step = this.#unique(name);
    const known = this.#steps.get(step);
    if (known?.state === 'completed') return known.output as Payload | null;
    const limitMs =
      timeout === undefined ? longestDelay : milliseconds(timeout, 'timeout', [0, longestDelay]);
    const isWaiting = known?.state === 'waiting';
    const waitedMs = isWaiting ? this.#now() - Date.parse(known.started_at) : 0;
    const delayMs = limitMs - waitedMs;
    // The signal may have arrived nevertheless: the server keeps the first result of the step.
    if (isWaiting && timeout !== undefined && delayMs <= 0) {
      const saved = await this.#busy(() => this.#deps.recorder.save(step, { output: null }));
      return saved.output as Payload | null;
    }
    return this.#wait({ for: 'signal', step, signal: name, isWaiting, delayMs: Math.max(0, delayMs) });
  }

  enqueue(name: string, job: Omit<T.JobInput, 'name'>): Promise<string> {
    const { id, tenant } = this.run;
    return this.#once(name, async (key) => {
      const unique = job.unique_key == null ? { unique_key: `${id}:${key}`, unique_for: uniqueFor } : {};
      return {
        output: await this.#deps.recorder.create({ scope_org_id: tenant, ...job, ...unique, name }),
      };
    });
  }

  now(): Promise<string> {
    return this.#once('now', async () => ({ output: new Date(this.#now()).toISOString() }));
  }

  uuid(): Promise<string> {
    return this.#once('uuid', async () => ({ output: crypto.randomUUID() }));
  }

  /** Answers from the record, or does the work and records its end. */
  async #once<Result>(
    name: string,
    work: (key: string, attempt: number) => Promise<Ended<Result>>,
  ): Promise<Result> {
    const key = this.#unique(name);
    const known = this.#steps.get(key);
    if (known?.state === 'completed') return known.output as Result;
    if (known?.state === 'failed') throw new StepFailed(key, known.error ?? 'failed');
    const attempt = (known?.attempt ?? 0) + 1;
    const { recorder } = this.#deps;
    const ended = await this.#busy(async () => {
      const end = await work(key, attempt);
      if ('wait' in end) return end;
      if ('error' in end) {
        await recorder.save(key, { error: messageOf(end.error), retryable: false });
        return end;
      }
      // The output as recorded, which every later execution will also see.
      const { output } = await recorder.save(key, { output: end.output ?? null });
      return { output: output as Result };
    });
    if ('wait' in ended) return this.#wait(ended.wait);
    if ('error' in ended) throw new StepFailed(key, messageOf(ended.error), { cause: ended.error });
    return ended.output;
  }

  /** The output of the step is the time at which to wake, so after a restart the wait continues where it was. */
  async #sleepUntil(name: string, wakeAt: () => string): Promise<void> {
    const key = this.#unique(name);
    const known = this.#steps.get(key);
    const step =
      known?.state === 'completed'
        ? known
        : await this.#busy(() => this.#deps.recorder.save(key, { output: wakeAt() }));
    const leftMs = Date.parse(step.output as string) - this.#now();
    if (leftMs > shortWaitMs) return this.#wait({ for: 'timer', delayMs: leftMs });
    if (leftMs > 0) await this.#busy(() => this.#pause(leftMs));
  }

  async #pause(ms: number): Promise<void> {
    const { signal } = this.#deps.context;
    await pause(ms, signal);
    signal.throwIfAborted();
  }

  /** Postpones the run. The promise never settles. */
  #wait(wait: Wait): Promise<never> {
    this.#waits.push(wait);
    setTimeout(() => void this.#suspendIfIdle());
    return this.#never();
  }

  #never(): Promise<never> {
    return new Promise<never>(() => {});
  }

  /** Whether nothing in this execution counts any more. */
  #isDead(): boolean {
    return this.#isOver || this.#deps.context.abandoned.aborted;
  }

  /**
   * Counts the work under way: the run is postponed only when there is none, so that no finished work is lost. The workflow's
   * code receives its own errors, but not the outcome of the execution.
   */
  async #busy<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#isDead()) return this.#never();
    this.#active++;
    try {
      const result = await work();
      return this.#isDead() ? await this.#never() : result;
    } catch (error) {
      if (error instanceof NotRecorded) throw error;
      this.#stop(error);
      return await this.#never();
    } finally {
      this.#active--;
      // The workflow's code gets the result first, and may start something else.
      setTimeout(() => void this.#suspendIfIdle());
    }
  }

  /** The execution ends here: it lost its job, or its attempt has failed. */
  #stop(error: unknown): void {
    const isLost = this.#deps.context.abandoned.aborted || error instanceof Lost;
    this.#isOver = true;
    if (isLost) this.#suspend();
    else this.#fail(error);
  }

  async #suspendIfIdle(): Promise<void> {
    if (this.#active > 0 || this.#waits.length === 0 || this.#isDead()) return;
    this.#isOver = true;
    try {
      await suspend(this.#deps.recorder, this.#waits);
      this.#suspend();
    } catch (error) {
      this.#stop(error);
    }
  }

  /** Repeated names get a number, in the order of the calls. */
  #unique(name: string): string {
    const count = (this.#names.get(name) ?? 0) + 1;
    this.#names.set(name, count);
    return count === 1 ? name : `${name}#${count}`;
  }
}

/** How the work of a step ended. */
type Ended<Result> = { readonly output: Result } | { readonly error: unknown } | { readonly wait: Wait };
