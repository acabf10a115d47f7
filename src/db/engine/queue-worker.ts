import { oneAtATime } from '../../lib/one-at-a-time.ts';
import type { Database } from '../index.ts';
import type { Log } from '../log.ts';
import { type Attempt, begin, type Handler } from './attempt.ts';
import {
  type Claim,
  claim,
  claimLimited,
  type ClaimedJob,
  type ClaimRequest,
  type Cursor,
  reusePlans,
} from './claim.store.ts';
import type { Leases } from './leases.ts';
import { afterPostponement } from './outcomes.ts';
import { claimSize, endRate } from './prefetch.ts';
import { isPassing, pauseMs } from './repetition.ts';
import type { Settler } from './settler.ts';

export interface QueueWorkerDeps {
  readonly db: Database;
  readonly log: Log;
  readonly queue: string;
  readonly leases: Leases;
  readonly settler: Settler;
  readonly maxOutput: number;
}

/** The jobs of one queue in this process: those that run, and those that are claimed and wait for a slot. */
export interface QueueWorker {
  readonly handlers: Map<string, Handler>;
  /** The most jobs that run at once. */
  concurrency: number;
  /** Whether a slot waits until the end of its job is recorded. */
  settlesEach: boolean;
  /** Claims and starts jobs if there is room. */
  look(): void;
  /** The ids of the jobs that run or wait. */
  held(): Iterable<string>;
  /** Forgets the jobs that wait under a lease that has ended, and asks those that run to end. */
  drop(leaseId: string): void;
  /** Claims nothing more, and gives back what waits. */
  drain(): Promise<void>;
  abort(reason: string): void;
  /** Resolves when nothing runs. */
  idle(): Promise<unknown>;
}

/** How often a claim that found nothing looks further at once, before it waits like one that has seen everything. */
const mostEmpty = 20;

/** Milliseconds after a claim that took all it saw until the next look. A claim at once would delay one that a hint asks for. */
const confirmMs = 20;

export function createQueueWorker(deps: QueueWorkerDeps): QueueWorker {
  const { db, log, queue, leases, settler } = deps;
  const handlers = new Map<string, Handler>();
  const running = new Map<ClaimedJob, { attempt: Attempt; settled: Promise<void> }>();
  const rate = endRate(() => performance.now());
  let waiting: ClaimedJob[] = [];
  let cursor: Cursor = new Map();
  let limited = false;
  /** Whether the last claim may have left due jobs behind. */
  let more = false;
  let stopped = false;
  let failures = 0;
  let timer: NodeJS.Timeout | undefined;

  const wanted = () =>
    stopped || settler.isFull() || !leases.isSafe()
      ? 0
      : claimSize({
          free: worker.concurrency - running.size,
          waiting: waiting.length,
          perSecond: rate.perSecond(),
          limited,
        });

  const claims = oneAtATime(async () => {
    clearTimeout(timer);
    fill();
    try {
      let waitMs = Infinity;
      for (let empty = 0; empty < mostEmpty;) {
        const count = wanted();
        if (count === 0) return;
        const known = limited;
        const taken = await take(count);
        waitMs = Math.min(waitMs, taken.waitMs ?? Infinity);
        if (taken.jobs.length > 0 && !taken.more) {
          // A lane that was emptied of its due jobs may have a delayed one, of which this claim did not learn.
          waitMs = Math.min(waitMs, confirmMs);
          break;
        }
        if (taken.jobs.length > 0) empty = 0;
        else if (taken.more || (taken.limited && !known)) empty++;
        else break;
      }
      if (!stopped && waitMs < Infinity) again(waitMs);
    } catch (error) {
      // The claim may have taken place.
      leases.compare();
      more = true;
      if (!isPassing(error)) log.error({ err: error, queue }, 'jobs could not be claimed');
      if (!stopped) again(pauseMs(failures++, Math.random()));
    }
  });

  async function take(count: number): Promise<Claim> {
    const request = { queue, leaseId: leases.id(), count, cursor };
    const taken = await (limited ? db.transaction((sql) => claimLimited(sql, request)) : claimAlone(request));
    ({ cursor, limited, more } = taken);
    failures = 0;
    if (request.leaseId === leases.id()) waiting.push(...taken.jobs);
    fill();
    return taken;
  }

  /** Connections of the background reuse plans anyway; PGlite has one connection, which services use too. */
  async function claimAlone(request: ClaimRequest): Promise<Claim> {
    if (db.engine === 'postgres') return claim(db.background, request);
    return db.transaction(async (sql) => (await Promise.all([reusePlans(sql), claim(sql, request)]))[1]);
  }

  /** The longest delay of a timer is that of the next poll anyway. */
  function again(ms: number): void {
    clearTimeout(timer);
    timer = setTimeout(look, Math.min(Math.ceil(ms) + 1, 60_000)).unref();
  }

  function fill(): void {
    let next = 0;
    while (
      !stopped &&
      next < waiting.length &&
      running.size < worker.concurrency &&
      !settler.isFull() &&
      leases.isSafe()
    )
      start(waiting[next++]!);
    if (next > 0) waiting = waiting.slice(next);
  }

  function start(job: ClaimedJob): void {
    const attempt = begin(job, handlers.get(job.name), deps);
    const settled = attempt.ended.then(async (end) => {
      const recorded = end === undefined ? undefined : settler.settle(job, end);
      if (worker.settlesEach) await recorded;
      running.delete(job);
      rate.note();
      fill();
      if ((more || limited) && wanted() > 0) look();
      else if (settler.isFull()) void recorded?.then(look);
    });
    running.set(job, { attempt, settled });
  }

  const look = () => void claims.run();

  const worker: QueueWorker = {
    handlers,
    concurrency: 1,
    settlesEach: false,
    look,
    *held() {
      for (const { id } of waiting) yield id;
      for (const { id } of running.keys()) yield id;
    },
    drop(leaseId) {
      waiting = waiting.filter(({ lease_id }) => lease_id !== leaseId);
      for (const [job, { attempt }] of running)
        if (job.lease_id === leaseId) attempt.abort('the job was lost');
    },
    async drain() {
      stopped = true;
      clearTimeout(timer);
      await claims.settled();
      const back = waiting;
      waiting = [];
      for (const job of back) void settler.settle(job, { outcome: afterPostponement(0) });
    },
    abort(reason) {
      for (const { attempt } of running.values()) attempt.abort(reason);
    },
    idle: () => Promise.all([...running.values()].map(({ settled }) => settled)),
  };
  return worker;
}
