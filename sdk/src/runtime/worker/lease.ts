import type { Jobs } from '../../services/jobs/jobs.ts';
import type { Leases } from '../../services/jobs/leases.ts';
import type { Attempt } from './attempt.ts';
import { duration } from './durations.ts';
import { isLoss, isUntaken, pauseAfter, repeated, statusOf } from './repetition.ts';
import { type Result, settlementOf, takeBatch } from './results.ts';

export interface LeaseDeps {
  readonly jobs: Jobs;
  readonly leases: Leases;
  readonly leaseMs: number;
  readonly onError: (error: unknown) => void;
  /** Called whenever an attempt ends or a result has been reported. */
  readonly onChange: (lease: HeldLease) => void;
}

/** How long an expired lease is assumed to remain renewable while the server is unreachable. */
const leastHopeMs = 60_000;
const attemptMs = 10_000;

/**
 * A lease that this worker holds: its attempts, the heartbeats that keep it alive, and the results that have to be reported to
 * the server. The lease is finished when it has neither attempts nor results.
 */
export class HeldLease {
  readonly id: string;
  readonly #deps: LeaseDeps;
  readonly #attempts = new Map<string, Attempt>();
  readonly #results: Result[] = [];
  readonly #closing = new AbortController();
  /** The callers that wait for a change. */
  readonly #waiting: (() => void)[] = [];
  #inFlight = 0;
  #isSettling = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** When the server last confirmed that the lease continues. */
  #renewedAt = performance.now();
  #failures = 0;

  constructor(id: string, deps: LeaseDeps) {
    this.id = id;
    this.#deps = deps;
    this.#beatIn(deps.leaseMs / 3);
  }

  get unsettled(): number {
    return this.#results.length + this.#inFlight;
  }

  get isDone(): boolean {
    return this.#attempts.size === 0 && this.unsettled === 0;
  }

  /** Watches an attempt until it ends, and then reports the end. */
  async watch(attempt: Attempt): Promise<void> {
    const { id } = attempt.job;
    this.#attempts.set(id, attempt);
    const end = await attempt.ended;
    // A lost attempt belongs to another worker by now.
    if (this.#attempts.get(id) === attempt) {
      this.#attempts.delete(id);
      if (end.kind !== 'recorded') this.#results.push({ jobId: id, end });
    }
    this.#changed();
    void this.#settle();
  }

  /** Gives up the attempts that are still running, and tells the server once all results have been reported. */
  async release(lastMs: number): Promise<void> {
    const released = [...this.#attempts.values()];
    for (const { job } of released) this.#lose(job.id, 'the worker stops');
    const late = setTimeout(() => this.#close(), lastMs);
    await this.#settled();
    clearTimeout(late);
    const isGone = this.#closing.signal.aborted;
    this.#close();
    if (released.length === 0 || isGone) return;
    // If this fails, the lease ends by itself a little later.
    await this.#deps.leases
      .release({ leaseId: this.id }, { timeout: lastMs, retries: 1 })
      .catch((error: unknown) => isLoss(error) || this.#deps.onError(error));
  }

  /** Resolves when there are no results left, or no way to report them. */
  async #settled(): Promise<void> {
    while (this.unsettled > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #changed(): void {
    if (this.isDone) this.#close();
    for (const resolve of this.#waiting.splice(0)) resolve();
    this.#deps.onChange(this);
  }

  /** Ends everything that is under way, so that nothing of the lease remains. */
  #close(): void {
    clearTimeout(this.#timer);
    this.#results.length = 0;
    this.#closing.abort();
  }

  #lose(id: string, reason: string): void {
    const attempt = this.#attempts.get(id);
    this.#attempts.delete(id);
    attempt?.abandon(reason);
  }

  /** The server has ended the lease. */
  #end(): void {
    for (const id of [...this.#attempts.keys()]) this.#lose(id, 'the lease of the job has ended');
    this.#close();
    this.#changed();
  }

  #beatIn(ms: number): void {
    clearTimeout(this.#timer);
    if (!this.#closing.signal.aborted) this.#timer = setTimeout(() => void this.#beat(), ms);
  }

  async #beat(): Promise<void> {
    const { leases, leaseMs, onError } = this.#deps;
    try {
      const { lost } = await leases.heartbeat(
        { leaseId: this.id, body: { duration: duration(leaseMs) } },
        { timeout: Math.min(attemptMs, leaseMs / 3), retries: 0, signal: this.#closing.signal },
      );
      this.#renewedAt = performance.now();
      this.#failures = 0;
      for (const id of lost) this.#lose(id, 'the job was taken from this worker');
      if (lost.length > 0) this.#changed();
      this.#beatIn(leaseMs / 3);
    } catch (error) {
      if (this.#closing.signal.aborted) return;
      if (statusOf(error) === 404) return this.#end();
      onError(error);
      this.#failures += 1;
      this.#beatIn(Math.min(leaseMs / 3, pauseAfter(this.#failures, error)));
    }
  }

  /** Reports results. Results that arrive while a request is in flight are reported together. */
  async #settle(): Promise<void> {
    if (this.#isSettling || this.#results.length === 0) return;
    this.#isSettling = true;
    // Attempts that end at the same time are reported together.
    await new Promise((resolve) => setTimeout(resolve));
    while (this.#results.length > 0) {
      const batch = takeBatch(this.#results);
      this.#inFlight = batch.length;
      await this.#report(batch);
      this.#inFlight = 0;
      this.#changed();
    }
    this.#isSettling = false;
  }

  /**
   * Repeats the report until the server has received it or the lease has certainly ended. A repeated report changes nothing more.
   */
  async #report(batch: readonly Result[]): Promise<void> {
    const signal = this.#closing.signal;
    if (signal.aborted) return;
    const send = () => this.#send(batch, signal);
    const givesUp = (error: unknown) => isLoss(error) || isFault(error) || this.#hasSurelyEnded();
    try {
      await repeated(send, { signal, givesUp, onFailure: this.#deps.onError });
    } catch (error) {
      if (signal.aborted) return;
      if (isFault(error)) return this.#reportRefused(batch, error);
      // A job that was postponed is no longer held when the request is repeated.
      if (isLoss(error) && batch[0]?.end.kind === 'postponed') return;
      if (!isLoss(error)) this.#deps.onError(error);
      this.#end();
    }
  }

  #send(batch: readonly Result[], signal: AbortSignal): PromiseLike<unknown> {
    const { jobs, leases } = this.#deps;
    const [first] = batch;
    const options = { timeout: 3 * attemptMs, retries: 0, signal };
    if (first?.end.kind !== 'postponed')
      return leases.settle({ leaseId: this.id, body: settlementOf(batch) }, options);
    const body = { lease_id: this.id, delay: first.end.delay };
    return jobs.snooze({ jobId: first.jobId, body }, options);
  }

  /** Finds the result that the server does not accept, such as an output that is too large, and fails its attempt. */
  async #reportRefused(batch: readonly Result[], refusal: unknown): Promise<void> {
    if (batch.length > 1) {
      for (const result of batch) await this.#report([result]);
      return;
    }
    const [result] = batch;
    this.#deps.onError(refusal);
    if (result?.end.kind !== 'completed') return;
    const error = `output: ${(refusal as Error).message}`;
    await this.#report([{ ...result, end: { kind: 'failed', error, retryable: true, retryIn: undefined } }]);
  }

  /** If the server itself was unreachable, the next heartbeat renews an expired lease, so the lease is not given up at once. */
  #hasSurelyEnded(): boolean {
    const { leaseMs } = this.#deps;
    return performance.now() - this.#renewedAt > leaseMs + Math.max(leaseMs, leastHopeMs);
  }
}

/** Whether the fault lies in the results themselves: the server does not accept them, or they cannot be sent. */
const isFault = (error: unknown): boolean =>
  isUntaken(error) || !(error instanceof Error && error.name === 'PlinthError');
