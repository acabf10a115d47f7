/**
 * Background jobs of all services: enqueued in the caller's transaction, executed at least once by any of the processes, repeated with
 * growing delays, and kept as dead letters when they fail for good. A killed process's jobs run elsewhere within seconds.
 */
import type { Database } from '../index.ts';
import type { Log } from '../log.ts';
import { outboxSweep } from '../outbox-pruning.ts';
import { startSweeps } from '../sweeps.ts';
import type { Sql } from '../sql.ts';
import type { Handler } from './attempt.ts';
import { type CronJob, type CronOptions, createCrons } from './crons.ts';
import { createEnqueue, type Enqueued } from './enqueue.ts';
import { createHints } from './hints.ts';
import type { JobInput } from './job.ts';
import { retentionSweep } from './retention.ts';
import { defaultSettings, type EngineSettings } from './settings.ts';
import { createWorker, type HandleOptions } from './worker.ts';

export { type Handler, type JobContext, JobFailure, JobLost, Postponed } from './attempt.ts';
export type { CronJob, CronOptions } from './crons.ts';
export type { Enqueued } from './enqueue.ts';
export type { Job, JobInput } from './job.ts';
export { defaultSettings, type EngineSettings, settings } from './settings.ts';
export type { HandleOptions } from './worker.ts';

export interface EngineDeps {
  readonly db: Database;
  readonly log: Log;
  readonly settings?: Partial<EngineSettings>;
}

export interface Engine {
  /**
   * Stores jobs, all or none, and returns what became of each: a taken unique key yields the job that holds it. With `tx` the jobs exist
   * exactly when that transaction commits.
   */
  enqueue(jobs: readonly JobInput[], options?: { readonly tx?: Sql }): Promise<Enqueued[]>;
  enqueue(job: JobInput, options?: { readonly tx?: Sql }): Promise<Enqueued>;
  /** Registers what this process does with the jobs of one name in a queue. A queue without handlers is left to other processes. */
  handle<Payload>(queue: string, name: string, handler: Handler<Payload>, options?: HandleOptions): void;
  /** Declares that a job is made at each tick of a schedule of five fields, once for all processes. Call it before `start`. */
  cron(name: string, schedule: string, job: CronJob, options?: CronOptions): void;
  /** Tells the workers of all processes that these queues have jobs, after a commit that made some due. */
  wake(queues: readonly string[]): void;
  /** Begins to execute jobs and to fire crons, unless the settings say `off`. Enqueuing works without it. */
  start(): Promise<void>;
  /**
   * Claims nothing more and lets handlers end for up to `graceMs`, by default for as long as the settings say; jobs that are not done by
   * then run again elsewhere.
   */
  stop(graceMs?: number): Promise<void>;
}

export function createEngine({ db, log, settings }: EngineDeps): Engine {
  const { maxPayload, leaseMs, retentionMs, deadLetterRetentionMs, shutdownMs, ...own } = {
    ...defaultSettings,
    ...settings,
  };
  const hints = createHints({ db, log });
  const enqueuing = createEnqueue({ db, maxPayload, hint: hints.give });
  const worker = createWorker({ ...own, db, log, hints, ttlMs: leaseMs, maxOutput: maxPayload });
  const crons = createCrons({ db, log, hints, maxPayload });
  const retention = retentionSweep(db, { jobsMs: retentionMs, deadLettersMs: deadLetterRetentionMs });
  let sweeps: ReturnType<typeof startSweeps> | undefined;

  async function enqueue(jobs: JobInput | readonly JobInput[], { tx }: { readonly tx?: Sql } = {}) {
    const list = 'name' in jobs ? [jobs] : jobs;
    const enqueued = await enqueuing.enqueue(list, tx);
    return 'name' in jobs ? enqueued[0]! : enqueued;
  }

  return {
    enqueue: enqueue as Engine['enqueue'],
    handle: (queue, name, handler, options) => worker.handle(queue, name, handler as Handler, options),
    cron: (...entry) => crons.declare(...entry),
    wake: (queues) => hints.give(new Set(queues)),
    async start() {
      if (own.engine === 'off') return;
      await worker.start();
      await crons.start();
      sweeps = startSweeps({ db, log }, [retention, outboxSweep({ db, service: 'jobs' })]);
    },
    async stop(graceMs = shutdownMs) {
      await Promise.all([crons.stop(), sweeps?.stop(), worker.stop(graceMs)]);
      await enqueuing.close();
      await hints.stop();
    },
  };
}
