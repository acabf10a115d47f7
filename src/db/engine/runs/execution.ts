import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { parseMoment } from '../../../lib/moments.ts';
import type { Database } from '../../index.ts';
import type { Log } from '../../log.ts';
import type { Sql } from '../../sql.ts';
import { type JobContext, JobFailure, JobLost } from '../attempt.ts';
import type { ClaimedJob } from '../claim.store.ts';
import { backoffOf, checkedName, type JobInput, jsonText, milliseconds } from '../job.ts';
import { limits } from '../limits.ts';
import { backoffMs, errorText, messageOf } from '../outcomes.ts';
import { executionOf } from '../settler.ts';
import { runLimits } from './limits.ts';
import { awaitSignal, lockRun } from './outside.ts';
import { runStore, type WaitingFor } from './runs.store.ts';
import { type NewStep, type StepRow, stepStore } from './steps.store.ts';
import { StepFailed, type StepOptions, type WorkflowContext } from './workflow.ts';

export interface ExecutionDeps {
  readonly db: Database;
  readonly log: Log;
  readonly maxOutput: number;
  readonly enqueue: (job: JobInput, tx: Sql) => Promise<{ readonly id: string }>;
  /** Tells the workers that a queue has jobs. */
  readonly wake: (queue: string) => void;
}

/** What keeps a run from going on at once. */
interface Wait {
  readonly for: WaitingFor;
  /** Milliseconds until it goes on; null when only a signal can tell. */
  readonly delayMs: number | null;
  /** The step to record with the wait. */
  readonly step?: NewStep;
  /** The step that waits for a signal. */
  readonly awaits?: string;
}

/** Shorter waits keep the slot: putting the job back costs more. */
const shortWaitMs = 5_000;
/** A step that lasts longer is named in the run while it lasts. */
const longStepMs = 100;

/**
 * One execution of a run in this process. Once it has to wait, or does not count any more, it never returns to the code of the
 * workflow: a promise that settles could be taken for a failure that asks for compensation.
 */
export class Execution implements WorkflowContext {
  readonly run: WorkflowContext['run'];
  /** Rejects when the execution does not count any more; resolves when the job has been put back. */
  readonly suspended: Promise<void>;
  readonly #deps: ExecutionDeps;
  readonly #job: ClaimedJob;
  readonly #context: JobContext;
  readonly #steps: ReadonlyMap<string, StepRow>;
  readonly #names = new Map<string, number>();
  readonly #waits: Wait[] = [];
  readonly #suspension = Promise.withResolvers<void>();
  #active = 0;
  #over = false;

  constructor(
    deps: ExecutionDeps,
    job: ClaimedJob,
    context: JobContext,
    run: WorkflowContext['run'],
    steps: readonly StepRow[],
  ) {
    this.#deps = deps;
    this.#job = job;
    this.#context = context;
    this.run = run;
    this.#steps = new Map(steps.map((step) => [step.name, step]));
    this.suspended = this.#suspension.promise;
    this.suspended.catch(() => {});
  }

  get log(): Log {
    return this.#deps.log;
  }

  step<T>(
    name: string,
    work: (context: { signal: AbortSignal; attempt: number }) => T | Promise<T>,
    options: StepOptions = {},
  ): Promise<T> {
    const most = Math.min(options.maxAttempts ?? 5, runLimits.stepAttempts);
    const timeoutMs = milliseconds(options.timeout, 'timeout', limits.timeoutMs);
    return this.#once(name, async (key, attempt) => {
      const began = performance.now();
      const naming = setTimeout(() => void this.#name(key), longStepMs);
      try {
        const own = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs);
        const signal =
          own === undefined ? this.#context.signal : AbortSignal.any([own, this.#context.signal]);
        const output = await within(work({ signal, attempt }), own);
        return { kind: 'done', output, elapsedMs: performance.now() - began };
      } catch (error) {
        if (this.#over) return this.#never();
        const again = attempt < most && !(error instanceof JobFailure && !error.retryable);
        const elapsedMs = performance.now() - began;
        if (!again) return { kind: 'failed', error, elapsedMs };
        const delayMs =
          (error instanceof JobFailure ? error.retryInMs : undefined) ??
          backoffMs(backoffOf(options.backoff), attempt, Math.random());
        const failed = { state: 'retrying', error: errorText(messageOf(error)), delayMs } as const;
        const step = { ...this.#stepOf(key, attempt), ...failed, elapsedMs };
        return { kind: 'waits', wait: { for: 'retry', delayMs, step } };
      } finally {
        clearTimeout(naming);
      }
    });
  }

  tx<T>(name: string, work: (tx: Sql) => Promise<T>): Promise<T> {
    return this.#once(name, async (key, attempt) => {
      const output = await this.#deps.db.transaction(async (tx) => {
        const result = await work(tx);
        await this.#record(
          { ...this.#stepOf(key, attempt), state: 'completed', output: this.#text(result) },
          tx,
        );
        return result;
      });
      return { kind: 'done', output, recorded: true };
    });
  }

  async sleep(name: string, duration: string): Promise<void> {
    const ms = milliseconds(duration, name, [0, limits.delayMs])!;
    await this.#sleep(name, { delayMs: ms });
  }

  async sleepUntil(name: string, moment: string): Promise<void> {
    parseMoment(moment, name);
    await this.#sleep(name, { wakeAt: moment });
  }

  async signal<T = unknown>(
    name: string,
    { timeout }: { readonly timeout?: string } = {},
  ): Promise<T | null> {
    checkedName(name, 'signal');
    const key = this.#unique(name);
    const known = this.#steps.get(key);
    if (known?.state === 'completed') return known.output as T | null;
    const delayMs = milliseconds(timeout, 'timeout', [0, limits.delayMs]) ?? null;
    const left = known?.state === 'waiting' ? known.wake_in : delayMs;
    if (known?.state === 'waiting' && left !== null && left <= 0) {
      await this.#busy(() =>
        this.#record({ ...this.#stepOf(key, known.attempt), state: 'completed', output: 'null' }),
      );
      return null;
    }
    const received = await this.#busy(() =>
      this.#deps.db.transaction(async (sql) => {
        const { tenant, id: run_id } = this.run;
        await this.#lock(sql);
        const wait = { tenant_id: tenant, run_id, step: key, signal: name, delayMs: left };
        if (!(await awaitSignal(sql, wait))) return undefined;
        return (await stepStore(sql).find(tenant, run_id, key))!.output as T;
      }),
    );
    if (received !== undefined) return received;
    return this.#wait({ for: 'signal', delayMs: left, awaits: key });
  }

  enqueue(name: string, job: Omit<JobInput, 'name'>): Promise<string> {
    const { tenant, app, id } = this.run;
    return this.tx(
      name,
      async (tx) => (await this.#deps.enqueue({ tenant, app, origin_id: id, ...job, name }, tx)).id,
    );
  }

  now(): Promise<string> {
    return this.#once('now', () => Promise.resolve({ kind: 'done', output: new Date().toISOString() }));
  }

  uuid(): Promise<string> {
    return this.#once('uuid', () => Promise.resolve({ kind: 'done', output: randomUUID() }));
  }

  /** The end of the code of the workflow; what it had begun and not awaited does not count. */
  end(): void {
    this.#over = true;
  }

  /** Answers from the record, or does the work and records its end. */
  async #once<T>(name: string, work: (key: string, attempt: number) => Promise<Ended<T>>): Promise<T> {
    const key = this.#unique(name);
    const known = this.#steps.get(key);
    if (known?.state === 'completed') return known.output as T;
    if (known?.state === 'failed') throw new StepFailed(key, known.error ?? 'failed');
    const attempt = (known?.attempt ?? 0) + 1;
    const left = known?.state === 'retrying' ? (known.wake_in ?? 0) : 0;
    if (left > 0) await this.#pause('retry', left);
    const ended = await this.#busy(() => work(key, attempt).then((end) => this.#finish(key, attempt, end)));
    if (ended.kind === 'waits') return this.#wait(ended.wait);
    if (ended.kind === 'failed') throw new StepFailed(key, messageOf(ended.error), { cause: ended.error });
    return ended.output;
  }

  async #finish<T>(key: string, attempt: number, ended: Ended<T>): Promise<Ended<T>> {
    if (ended.kind === 'waits') return ended;
    const step = { ...this.#stepOf(key, attempt), elapsedMs: ended.elapsedMs ?? 0 };
    if (ended.kind === 'failed') {
      await this.#record({ ...step, state: 'failed', error: errorText(messageOf(ended.error)) });
      return ended;
    }
    const output = this.#text(ended.output);
    if (ended.recorded !== true) await this.#record({ ...step, state: 'completed', output });
    // The same value as in a later execution, which has it from the record.
    return { kind: 'done', output: JSON.parse(output) as T };
  }

  async #sleep(name: string, wake: Pick<NewStep, 'delayMs' | 'wakeAt'>): Promise<void> {
    const key = this.#unique(name);
    let known = this.#steps.get(key);
    if (known?.state === 'completed') return;
    known ??= await this.#busy(() => this.#record({ ...this.#stepOf(key, 1), state: 'waiting', ...wake }));
    if ((known.wake_in ?? 0) > 0) await this.#pause('timer', known.wake_in!);
    await this.#busy(() => this.#record({ ...this.#stepOf(key, 1), state: 'completed', output: 'null' }));
  }

  /** Waits here if it takes little time. */
  async #pause(what: WaitingFor, ms: number): Promise<void> {
    if (ms > shortWaitMs) return this.#wait({ for: what, delayMs: ms });
    await this.#busy(() => delay(ms, undefined, { signal: this.#context.signal }));
  }

  /** Puts the run off. The promise never settles. */
  #wait(wait: Wait): Promise<never> {
    this.#waits.push(wait);
    void Promise.resolve().then(() => this.#suspendIfIdle());
    return this.#never();
  }

  #never(): Promise<never> {
    return new Promise<never>(() => {});
  }

  /** Counts what is going on: the run is put off only when nothing is, so that no finished work is lost. */
  async #busy<T>(work: () => Promise<T>): Promise<T> {
    if (this.#over) return this.#never();
    this.#active++;
    try {
      return await work();
    } catch (error) {
      if (this.#over) return await this.#never();
      throw error;
    } finally {
      this.#active--;
      // The code of the workflow gets the result first, and may begin something else.
      setImmediate(() => void this.#suspendIfIdle());
    }
  }

  async #suspendIfIdle(): Promise<void> {
    if (this.#active > 0 || this.#waits.length === 0 || this.#over) return;
    this.#over = true;
    try {
      await this.#deps.db.transaction((sql) => this.#suspend(sql));
      this.#deps.wake(this.#job.queue);
      this.#suspension.resolve();
    } catch (error) {
      this.#suspension.reject(error);
    }
  }

  async #suspend(sql: Sql): Promise<void> {
    const { tenant, id } = this.run;
    await this.#lock(sql);
    const steps = stepStore(sql);
    for (const { step } of this.#waits) if (step !== undefined) await steps.save(step);
    const awaited = this.#waits.flatMap(({ awaits }) => awaits ?? []);
    const arrived = awaited.length > 0 && (await steps.anyCompleted(tenant, id, awaited));
    const soonest = this.#waits.reduce((one, other) => (delayOf(other) < delayOf(one) ? other : one));
    const ms = arrived ? 0 : delayOf(soonest);
    await runStore(sql).wait(tenant, id, soonest.for, soonest.delayMs === null ? null : ms);
    await this.#context.postpone(sql, ms);
  }

  async #lock(sql: Sql): Promise<void> {
    const { lease_id, state } = await lockRun(sql, this.run.tenant, this.run.id);
    if (lease_id !== this.#job.lease_id || state !== 'running') this.#lose();
  }

  async #record(step: NewStep, tx: Sql = this.#deps.db.sql): Promise<StepRow> {
    const saved = await stepStore(tx).save(step, executionOf(this.#job));
    if (!saved.held) this.#lose();
    if (saved.step === undefined) {
      this.#over = true;
      const failure = new JobFailure(`run has ${runLimits.steps} steps`, { retryable: false });
      this.#suspension.reject(failure);
      throw failure;
    }
    return saved.step;
  }

  #lose(): never {
    this.#over = true;
    const lost = JobLost();
    this.#suspension.reject(lost);
    throw lost;
  }

  async #name(step: string): Promise<void> {
    if (this.#over) return;
    await runStore(this.#deps.db.background)
      .current(executionOf(this.#job), this.run.id, step)
      .catch(() => {});
  }

  /** Names that are used again get a number, by the order of the calls. */
  #unique(name: string): string {
    const count = (this.#names.get(name) ?? 0) + 1;
    this.#names.set(name, count);
    const key = count === 1 ? name : `${name}#${count}`;
    if (!runLimits.stepName.test(key)) throw new JobFailure(`step ${name}: not a name`, { retryable: false });
    return key;
  }

  #stepOf(name: string, attempt: number) {
    return { tenant_id: this.run.tenant, run_id: this.run.id, name, attempt };
  }

  #text(output: unknown): string {
    return jsonText(output ?? null, 'output', this.#deps.maxOutput);
  }
}

/** How the work of a step ended. */
type Ended<T> =
  | { readonly kind: 'done'; readonly output: T; readonly recorded?: boolean; readonly elapsedMs?: number }
  | { readonly kind: 'failed'; readonly error: unknown; readonly elapsedMs: number }
  | { readonly kind: 'waits'; readonly wait: Wait };

const delayOf = ({ delayMs }: Wait): number => delayMs ?? runLimits.longestWaitMs;

/** Rejects with the reason of the signal when it aborts before the work ends. */
async function within<T>(work: T | Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason as Error);
  signal.addEventListener('abort', onAbort, { once: true });
  return Promise.race([work, promise]).finally(() => signal.removeEventListener('abort', onAbort));
}
