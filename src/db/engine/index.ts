/**
 * Background jobs of all services: enqueued in the caller's transaction, executed at least once by any of the processes, repeated with
 * growing delays, and kept as dead letters when they fail for good. A killed process's jobs run elsewhere within seconds. And the periodic
 * work of all services, which one of the processes does at a time.
 */
import type { Database } from '../index.ts';
import type { Log } from '../log.ts';
import { outboxSweep } from '../outbox-pruning.ts';
import type { Sweep } from '../sweeps.ts';
import type { Sql } from '../sql.ts';
import type { Handler } from './attempt.ts';
import { jobBacklog, type JobBacklog } from './backlog.store.ts';
import { type CronJob, type CronOptions, createCrons } from './crons.ts';
import { type DueRows, dueRows, type DueRowsOptions, type Work } from './due-rows.ts';
import { createEnqueue, type Enqueued } from './enqueue.ts';
import type { EngineTally } from './figures.ts';
import { createHints } from '../hints.ts';
import { type JobInput, platform } from './job.ts';
import { createLeases, endLease as endLeaseOf, type Leases } from './leases.ts';
import { retentionSweep } from './retention.ts';
import { defaultSettings, type EngineSettings } from './settings.ts';
import { type RunInput, type StartedRun, startRun } from './runs/starting.ts';
import type { WorkflowCode, WorkflowOptions } from './runs/workflow.ts';
import { createWorkflows } from './runs/workflows.ts';
import { createSweeps } from './sweeps.ts';
import { createWorker, type HandleOptions } from './worker.ts';

export { type Handler, type JobContext, JobFailure, JobLost, Postponed } from './attempt.ts';
export type { JobBacklog } from './backlog.store.ts';
export type { CronJob, CronOptions } from './crons.ts';
export type { DueRows, DueRowsOptions } from './due-rows.ts';
export type { Enqueued } from './enqueue.ts';
export type { Job, JobInput } from './job.ts';
export { defaultSettings, type EngineSettings, settings } from './settings.ts';
export type { RunInput, StartedRun } from './runs/starting.ts';
export {
  StepFailed,
  type StepOptions,
  type WorkflowCode,
  type WorkflowContext,
  type WorkflowOptions,
} from './runs/workflow.ts';
export type { HandleOptions } from './worker.ts';

/** The outbox of the engine, which exists whether or not a server serves `jobs`. */
export const engineOutbox = { service: 'jobs' } as const;

export interface EngineDeps {
  readonly db: Database;
  readonly log: Log;
  readonly settings?: Partial<EngineSettings>;
  /** Called with each lease that the process takes, before it takes it. Whoever outlives the process may end it: `endLease`. */
  readonly onLease?: ((leaseId: string) => void) | undefined;
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
  /** Declares work that one of the processes does time and again. */
  sweep(sweep: Sweep): void;
  /**
   * Declares work that rows of a service's own table request, where a job for each would store them twice. Call it before `start`; the
   * rows are claimed between `start` and `stop`.
   */
  dueRows<Row>(options: DueRowsOptions<Row>): DueRows;
  /** Registers the code of one version of a workflow, of which this process executes runs. Call it before `start`. */
  workflow<Input>(name: string, version: number, code: WorkflowCode<Input>, options?: WorkflowOptions): void;
  /** Starts a run of a workflow, in the transaction `tx` if one is given. A taken key yields the run that has it. */
  startRun(run: RunInput, options?: { readonly tx?: Sql }): Promise<StartedRun>;
  /** Calls `onHint` with the queues that may have new jobs; without them when hints may have been missed. Returns its end. */
  listen(onHint: (queues: Iterable<string> | undefined) => void): () => void;
  /** Tells the workers of all processes that these queues have jobs, after a commit that made some due. */
  wake(queues: readonly string[]): void;
  /** What this process has done, and what waits in the queues of the platform, for the metrics. */
  tally(): EngineTally;
  backlog(): Promise<JobBacklog[]>;
  /** Begins to execute jobs, to fire crons and to run sweeps, unless the settings say `off`. Enqueuing works without it. */
  start(): Promise<void>;
  /**
   * Claims nothing more and lets handlers end for up to `graceMs`, by default for as long as the settings say; jobs that are not done by
   * then run again elsewhere.
   */
  stop(graceMs?: number): Promise<void>;
}

export function createEngine({ db, log, settings, onLease = () => {} }: EngineDeps): Engine {
  const { maxPayload, leaseMs, retentionMs, deadLetterRetentionMs, runRetentionMs, shutdownMs, ...own } = {
    ...defaultSettings,
    ...settings,
  };
  let leasesLost = 0;
  const hints = createHints({ db, log, channel: 'jobs' });
  const enqueuing = createEnqueue({ db, maxPayload, hint: hints.give });
  const leases: Leases = createLeases({
    ...own,
    db,
    log,
    ttlMs: leaseMs,
    hint: hints.give,
    held: () => worker.held(),
    onTaken: onLease,
    onLost(leaseId) {
      leasesLost += 1;
      worker.drop(leaseId);
      sweeps.drop(leaseId);
    },
  });
  const worker = createWorker({ ...own, db, log, hints, leases, maxOutput: maxPayload });
  const crons = createCrons({ db, log, hints, maxPayload });
  const sweeps = createSweeps({ db, log, leases });
  sweeps.declare(
    retentionSweep(db, {
      jobsMs: retentionMs,
      deadLettersMs: deadLetterRetentionMs,
      runsMs: runRetentionMs,
    }),
  );
  sweeps.declare(outboxSweep({ ...engineOutbox, db }));
  const wake = (queues: Iterable<string>) => hints.give(new Set(queues));
  const enqueueIn = async (job: JobInput, tx: Sql) => (await enqueuing.enqueue([job], tx))[0]!;
  const workflows = createWorkflows({
    db,
    log,
    maxOutput: maxPayload,
    enqueue: enqueueIn,
    wake: (queue) => wake([queue]),
    handle: (queue, name, handler, options) => worker.handle(queue, name, handler, options),
  });
  const works: Work[] = [];
  let started = false;
  let stopped = false;

  async function enqueue(jobs: JobInput | readonly JobInput[], { tx }: { readonly tx?: Sql } = {}) {
    if (!('name' in jobs)) return enqueuing.enqueue(jobs, tx, true);
    return (await enqueuing.enqueue([jobs], tx))[0]!;
  }

  return {
    enqueue: enqueue as Engine['enqueue'],
    handle: (queue, name, handler, options) => worker.handle(queue, name, handler as Handler, options),
    cron: (...entry) => crons.declare(...entry),
    sweep: (sweep) => sweeps.declare(sweep),
    dueRows(options) {
      const work = dueRows({ db, log }, options);
      works.push(work);
      return work;
    },
    workflow: (name, version, code, options) =>
      workflows.declare(name, version, code as WorkflowCode, options),
    startRun(run, { tx } = {}) {
      const { tenant = platform.tenant, app = platform.app } = run;
      const tenants = [...new Set([tenant, platform.tenant])];
      const start = (sql: Sql) =>
        startRun(sql, { ...run, tenant }, { tenants, app }, { enqueue: enqueueIn, maxPayload });
      return tx === undefined ? db.transaction(start) : start(tx);
    },
    listen: (onHint) => hints.listen(onHint),
    wake,
    tally: () => ({ queues: worker.tallies(), leasesLost }),
    backlog: () => jobBacklog(db.background),
    async start() {
      if (own.engine === 'off') return;
      started = true;
      await workflows.register(() => stopped);
      await leases.start();
      await crons.start();
      sweeps.start();
      for (const work of works) work.start();
      // Last, because a handler may block the process at once.
      worker.start();
    },
    async stop(graceMs = shutdownMs) {
      stopped = true;
      const stopping = works.map((work) => work.stop());
      await Promise.all([crons.stop(), sweeps.stop(), worker.stop(graceMs), ...stopping]);
      if (started) await leases.stop();
      await enqueuing.close();
      await hints.stop();
    },
  };
}

/** Ends the lease of a process that has died, so that its jobs run again at once and not when the lease has run out. */
export async function endLease(
  { db, log, settings }: Pick<EngineDeps, 'db' | 'log' | 'settings'>,
  leaseId: string,
): Promise<void> {
  const hints = createHints({ db, log, channel: 'jobs' });
  await endLeaseOf({ ...defaultSettings, ...settings, db, log, hint: hints.give }, leaseId);
  await hints.stop();
}
