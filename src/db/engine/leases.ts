import { hostname } from 'node:os';
import { formatDuration } from '../../lib/durations.ts';
import { newId } from '../../lib/ids.ts';
import { oneAtATime } from '../../lib/one-at-a-time.ts';
import type { Database } from '../index.ts';
import type { Log } from '../log.ts';
import { type ClaimedJob } from './claim.store.ts';
import { beats, cell, type Heartbeat, startHeartbeat } from './heartbeat.ts';
import { leaseStore } from './leases.store.ts';
import { afterFailure, afterLoss, type Attempted, type Outcome } from './outcomes.ts';
import { isPassing, repeated } from './repetition.ts';
import { conclude } from './settle.ts';
import { platform } from './job.ts';

export interface LeasesDeps {
  readonly db: Database;
  readonly log: Log;
  readonly ttlMs: number;
  /** How often a job may be lost before it fails. */
  readonly maxLost: number;
  /** Called with the queues that have jobs waiting again. */
  readonly hint: (queues: ReadonlySet<string>) => void;
  /** The ids of the jobs that this process holds. */
  readonly held: () => string[];
  /** Called with a lease before it is taken. */
  readonly onTaken: (leaseId: string) => void;
  /** Called when the lease has ended although this process lives: it holds none of its jobs any more. */
  readonly onLost: (leaseId: string) => void;
}

/** The lease of this process, under which it claims and executes jobs, and the reaper of leases whose holders are gone. */
export interface Leases {
  readonly id: () => string;
  /** Whether jobs may start: the lease was renewed so recently that nobody can have ended it. */
  readonly isSafe: () => boolean;
  start(): Promise<void>;
  /** Asks for a comparison of what runs under the lease with what this process holds: the answer to a claim was lost. */
  compare(): void;
  /** Ends the lease; what still runs under it waits again at once. */
  stop(): Promise<void>;
}

/** The most milliseconds between two looks for leases that have expired. */
const reapMs = 1_000;
/** The least of them when a lease is about to expire: others may do so right after it. */
const shortReapMs = 200;
/** Milliseconds by which an attempt may exceed its timeout before it counts as failed. */
export const graceMs = 5_000;
/** Milliseconds between two comparisons of what runs under the lease with what is held. */
const compareMs = 10_000;
const shortCompareMs = 5_500;
/** The most jobs of one transaction of the reaper. */
const mostAstray = 500;

export function createLeases(deps: LeasesDeps): Leases {
  const { db, log, ttlMs } = deps;
  const alone = db.engine === 'pglite';
  const cells = new BigInt64Array(new SharedArrayBuffer(16));
  const sinceMs = (at: bigint) => Number(process.hrtime.bigint() - at) / 1e6;
  const store = leaseStore(db.background);
  let id = newId('lease');
  let stopped = false;
  let heartbeat: Heartbeat | undefined;
  let timer: NodeJS.Timeout | undefined;
  const everyMs = Math.min(reapMs, ttlMs / beats);
  const expiry = atExpiry(() => void passes.run());
  let compareAt = performance.now() + compareMs;
  const steady = steadiness(ttlMs);

  async function take(): Promise<void> {
    const began = process.hrtime.bigint();
    deps.onTaken(id);
    const worker = `${hostname()}:${process.pid}`.slice(0, 128);
    await store.create({ id, kind: 'process', ...platform, worker, ttlMs });
    Atomics.store(cells, cell.renewed, began);
    Atomics.store(cells, cell.alive, began);
  }

  /** The lease was ended, because this process or the database was away for too long. What was claimed under it belongs to others. */
  async function replace(ended: string): Promise<void> {
    if (ended !== id) return;
    log.warn({ lease: ended }, 'the lease of the jobs has ended: another one begins');
    id = newId('lease');
    deps.onLost(ended);
    await repeated(take, () => stopped);
    heartbeat?.follow(id);
  }

  /** PGlite has one process, which renews its lease before it could reap it. */
  async function renewHere(): Promise<void> {
    const began = process.hrtime.bigint();
    if ((await store.renew(id, ttlMs)) === undefined) await replace(id);
    else Atomics.store(cells, cell.renewed, began);
  }

  const passes = oneAtATime(async () => {
    try {
      if (alone) await renewHere();
      const mayReap = alone || steady(Number(Atomics.load(cells, cell.renewed)) / 1e6, performance.now());
      if (mayReap) {
        const { found, nextMs } = await store.endExpired({ graceMs, soonMs: everyMs });
        expiry.in(nextMs);
        if (found) await reap(deps);
      }
      if (performance.now() < compareAt) return;
      compareAt = performance.now() + compareMs;
      deps.hint(new Set(await store.putBackStrays(id, deps.held())));
    } catch (error) {
      if (!isPassing(error)) log.error({ err: error }, 'leases of jobs could not be looked at');
    }
  });

  return {
    id: () => id,
    // The embedded database cannot be opened by another process, so nobody else ends the lease.
    isSafe: () => alone || sinceMs(Atomics.load(cells, cell.renewed)) < ttlMs - 1_000,
    async start() {
      if (alone) await store.endProcesses();
      await take();
      if (db.url !== undefined)
        heartbeat = startHeartbeat({
          data: { url: db.url, leaseId: id, ttlMs, cells },
          log,
          onEnded: (ended) =>
            void replace(ended).catch((error: unknown) =>
              log.warn({ err: error }, 'no lease of jobs could be taken'),
            ),
        });
      timer = setInterval(() => void passes.run(), everyMs * (0.9 + Math.random() * 0.2)).unref();
      void passes.run();
    },
    compare: () => void (compareAt = Math.min(compareAt, performance.now() + shortCompareMs)),
    async stop() {
      stopped = true;
      clearInterval(timer);
      await passes.settled();
      expiry.stop();
      await heartbeat?.stop();
      const queues = await store.release(id).catch(() => []);
      deps.hint(new Set(queues));
    },
  };
}

/**
 * Looks for expired leases at the moment when one expires, if that is before the next look. Leases that are renewed in time never come so
 * near to their end, so they cause no such looks.
 */
export function atExpiry(look: () => void) {
  let timer: NodeJS.Timeout | undefined;
  return {
    in(ms: number | null): void {
      clearTimeout(timer);
      if (ms !== null) timer = setTimeout(look, Math.max(shortReapMs, Math.ceil(ms) + 1)).unref();
    },
    stop: () => clearTimeout(timer),
  };
}

type ReapDeps = Pick<LeasesDeps, 'db' | 'log' | 'maxLost' | 'hint'>;

/** The part of the usual time over which jobs are spread whose process was seen to die: they run again within a second. */
const seenToDie = 0.5;

/** Ends the lease of a process that has died. The reaper of a living process would do so when the lease has run out. */
export async function endLease(deps: ReapDeps, id: string): Promise<void> {
  await leaseStore(deps.db.background).end(id);
  await reap(deps, seenToDie);
}

/** Puts jobs back whose lease has ended, and fails attempts that take too long, until none is left. */
async function reap({ db, log, maxLost, hint }: ReapDeps, widest = 1): Promise<void> {
  for (let count = mostAstray; count === mostAstray;)
    count = await db.transaction(async (sql) => {
      const jobs = await leaseStore(sql).astray(graceMs, mostAstray);
      if (jobs.length === 0) return 0;
      const list = jobs.map((job) => ({ ...job, outcome: outcomeOf(job, job.overdue, maxLost, widest) }));
      const { queues } = await conclude(sql, list);
      const late = jobs.filter(({ overdue }) => overdue);
      if (late.length > 0) await leaseStore(sql).noteLost(late);
      db.afterCommit(sql, () => {
        log.info({ jobs: jobs.length }, 'jobs of lost or late workers were taken back');
        hint(queues);
      });
      return jobs.length;
    });
}

const outcomeOf = (job: ClaimedJob, overdue: boolean, maxLost: number, widest: number): Outcome =>
  overdue
    ? afterFailure(attempted(job), { error: timeoutText(job.timeout_ms) }, Math.random())
    : afterLoss(attempted(job), maxLost, Math.random() * widest);

/** What judges the end of a claimed job's attempt. */
export const attempted = (job: ClaimedJob): Attempted => ({
  attempt: job.attempt,
  maxAttempts: job.max_attempts,
  lostCount: job.lost_count,
  backoff: { type: job.backoff_type, delayMs: job.backoff_delay_ms, maxMs: job.backoff_max_ms },
});

export const timeoutText = (timeoutMs: number): string => `timed out after ${formatDuration(timeoutMs)}`;

/**
 * Whether renewals have gone on without a gap for a whole lease time. After an outage of the database every living process has then
 * had time to renew its own lease, so only those of dead processes are reaped.
 */
export function steadiness(ttlMs: number): (renewedMs: number, nowMs: number) => boolean {
  let last: number | undefined;
  let since = Infinity;
  let heard = 0;
  return (renewedMs, nowMs) => {
    if (last === undefined || renewedMs - last > ttlMs / 2) since = nowMs;
    if (renewedMs !== last) heard = nowMs;
    last = renewedMs;
    if (nowMs - heard > ttlMs / 2) since = nowMs;
    return nowMs - since >= ttlMs;
  };
}
