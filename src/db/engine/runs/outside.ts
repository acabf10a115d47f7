/** What outside workers and people do with runs; each in the caller's transaction. */
import { Conflict, Invalid, NotFound } from '../../../lib/errors.ts';
import type { Sql } from '../../sql.ts';
import { backoffMs, type Backoff } from '../outcomes.ts';
import { runLimits } from './limits.ts';
import { type RunHead, runStore } from './runs.store.ts';
import { type NewSignal, signalStore } from './signals.store.ts';
import { type StepRow, stepStore } from './steps.store.ts';

/** How often a run may get another job while it is being locked. */
const mostRounds = 10;

/** A run with its live job, both locked. */
export interface LockedRun extends RunHead {
  readonly lease_id: string | null;
  /** The queue of the job; null when there is none. */
  readonly queue: string | null;
}

/** Locks the live job of a run, if there is one, and then the run. @throws NotFound */
export async function lockRun(sql: Sql, tenant: string, id: string): Promise<LockedRun> {
  const store = runStore(sql);
  for (let round = 0; round < mostRounds; round++) {
    const [, seen] = await Promise.all([sql`savepoint lock_run`, store.find(tenant, id)]);
    if (seen === undefined) break;
    const job = await store.lockJob(tenant, seen.job_id);
    const run = await store.lock(tenant, id);
    if (run?.job_id === seen.job_id)
      return { ...run, lease_id: job?.lease_id ?? null, queue: job?.queue ?? null };
    // The run has got another job meanwhile. Its lock is given back, because jobs are locked before runs.
    await sql`rollback to savepoint lock_run`;
  }
  throw NotFound('run');
}

/**
 * Stores a signal. A step that waits for it receives it at once, and the result says so: the run's job has to become due.
 * @throws Invalid when the run has ended or has too many signals
 */
export async function storeSignal(sql: Sql, run: RunHead, signal: NewSignal): Promise<{ received: boolean }> {
  if (run.state !== 'running') throw Invalid(`run is ${run.state}`);
  const store = signalStore(sql);
  if (signal.dedup !== null && (await store.isKnown(signal))) return { received: false };
  const seq = await store.insert(signal);
  if (seq === undefined) throw Invalid(`run has ${runLimits.signals} signals`);
  return { received: await store.deliver(signal, seq) };
}

/** A step that is to receive a signal. */
export interface SignalWait {
  readonly tenant_id: string;
  readonly run_id: string;
  readonly step: string;
  readonly signal: string;
  /** Until when it waits; null is for ever. */
  readonly wakeAt?: string | null | undefined;
  readonly delayMs?: number | null | undefined;
}

/**
 * Lets a step wait for a signal while the run is locked. A signal that has arrived already is received at once. Returns whether the
 * step has its signal, so that the run goes on.
 */
export async function awaitSignal(sql: Sql, wait: SignalWait): Promise<boolean> {
  const { tenant_id, run_id, step: name, signal } = wait;
  const steps = stepStore(sql);
  const known = await steps.find(tenant_id, run_id, name);
  if (known?.state === 'completed' || known?.state === 'failed') return true;
  const output = await signalStore(sql).take(tenant_id, run_id, signal, name);
  const step = { tenant_id, run_id, name, attempt: known?.attempt ?? 1 };
  const { step: saved } =
    output === undefined
      ? await steps.save({ ...step, state: 'waiting', signal, wakeAt: wait.wakeAt, delayMs: wait.delayMs })
      : await steps.save({ ...step, state: 'completed', output });
  if (saved === undefined) throw TooManySteps();
  return output !== undefined;
}

/** The end of an attempt of a step, as an outside worker reports it. */
export interface StepReport {
  readonly step: string;
  /** JSON text of the output; null when the attempt failed. */
  readonly output: string | null;
  readonly failure?: {
    readonly error: string;
    readonly retryable: boolean;
    readonly retryInMs: number | undefined;
  };
}

/** What becomes of the run's job after a report. */
export interface Reported {
  readonly step: StepRow;
  /** Milliseconds by which the job is put off; undefined when the worker goes on. */
  readonly postponeMs: number | undefined;
}

/**
 * Records a report while the run is locked. What has ended stays as it is and is returned.
 * @throws Invalid when the run has as many steps as it may have
 */
export async function reportStep(
  sql: Sql,
  run: RunHead,
  backoff: Backoff,
  { step: name, output, failure }: StepReport,
): Promise<Reported> {
  const { tenant_id, id: run_id } = run;
  const steps = stepStore(sql);
  const known = await steps.find(tenant_id, run_id, name);
  if (known?.state === 'completed' || known?.state === 'failed')
    return { step: known, postponeMs: undefined };
  const attempt = (known?.state === 'retrying' ? known.attempt : 0) + 1;
  const again = failure?.retryable === true && attempt < runLimits.stepAttempts;
  const state = failure === undefined ? 'completed' : again ? 'retrying' : 'failed';
  const postponeMs = again ? (failure.retryInMs ?? backoffMs(backoff, attempt, Math.random())) : undefined;
  const error = failure?.error ?? null;
  const { step } = await steps.save({
    tenant_id,
    run_id,
    name,
    state,
    attempt,
    output,
    error,
    delayMs: postponeMs ?? null,
  });
  if (step === undefined) throw TooManySteps();
  if (postponeMs !== undefined) await runStore(sql).wait(tenant_id, run_id, 'retry', postponeMs);
  return { step, postponeMs };
}

const TooManySteps = () => Invalid(`run has ${runLimits.steps} steps`);

/** @throws Conflict unless the lease holds the job of the run */
export function checkHeld(run: { readonly lease_id: string | null }, leaseId: string): void {
  if (run.lease_id !== leaseId) throw Conflict('job is not held by this lease');
}
