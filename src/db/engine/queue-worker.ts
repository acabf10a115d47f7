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
import { emptyTally, type Ending } from './figures.ts';
import { claimSize, endRate } from './prefetch.ts';
import { isPassing, pauseMs } from './repetition.ts';
import type { End, Settler } from './settler.ts';
import { WaitingJobs } from './waiting-jobs.ts';

export interface QueueWorkerDeps {
  readonly db: Database;
  readonly log: Log;
  readonly queue: string;
  readonly leases: Leases;
  readonly settler: Settler;
  readonly maxOutput: number;
}

/** How often a claim that found nothing looks further at once, before it waits like one that has seen everything. */
const mostEmpty = 20;

/** Milliseconds after a claim that took all it saw until the next look. A claim at once would delay one that a hint asks for. */
const confirmMs = 20;

/** The longest delay of a timer; polling looks more often anyway. */
const longestWaitMs = 60_000;

/** The jobs of one queue in this process: those that run, and those that are claimed and wait for a slot. */
export class QueueWorker {
  readonly handlers = new Map<string, Handler>();
  readonly tally = emptyTally();
  /** The most jobs that run at once. */
  concurrency: number;
  /** Whether a slot waits until the end of its job is recorded. */
  settlesEach = false;
  readonly #deps: QueueWorkerDeps;
  readonly #running = new Map<ClaimedJob, { attempt: Attempt; settled: Promise<void> }>();
  readonly #rate = endRate(() => performance.now());
  /** A second claim goes on while the first is under way, when jobs end faster than one claim after the other brings new ones. */
  readonly #claims = [oneAtATime(() => this.#claim()), oneAtATime(() => this.#claim())] as const;
  /** How many jobs the claims under way ask for. */
  #asked = 0;
  readonly #waiting = new WaitingJobs();
  #cursor: Cursor = new Map();
  #limited = false;
  /** Whether the last claim may have left due jobs behind. */
  #more = false;
  /** Whether no claim has begun since the last hint. */
  #hinted = false;
  #stopped = false;
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: QueueWorkerDeps, concurrency: number) {
    this.#deps = deps;
    this.concurrency = concurrency;
  }

  /** Looks for the new jobs that another part told of. */
  hint(): void {
    this.#hinted = true;
    this.look();
  }

  /** Claims and starts jobs if there is room. */
  look(): void {
    const [first, second] = this.#claims;
    void first.run();
    if (!this.#limited && this.#asked > 0 && this.#wanted() > 0) void second.run();
  }

  /** The ids of the jobs that run or wait. */
  held(): string[] {
    return [...this.#waiting, ...this.#running.keys()].map(({ id }) => id);
  }

  /** Forgets the jobs that wait under a lease that has ended, and asks those that run to end. */
  drop(leaseId: string): void {
    this.#waiting.remove(({ lease_id }) => lease_id === leaseId);
    for (const [job, { attempt }] of this.#running)
      if (job.lease_id === leaseId) attempt.abort('the job was lost');
  }

  /** Claims nothing more, and gives back what waits. */
  async drain(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await Promise.all(this.#claims.map((claims) => claims.settled()));
    for (const job of this.#waiting.remove(() => true))
      void this.#deps.settler.settle(job, { outcome: afterPostponement(0) });
  }

  abort(reason: string): void {
    for (const { attempt } of this.#running.values()) attempt.abort(reason);
  }

  /** Resolves when nothing runs. */
  async idle(): Promise<void> {
    await Promise.all([...this.#running.values()].map(({ settled }) => settled));
  }

  #wanted(): number {
    if (this.#stopped || this.#deps.settler.isFull() || !this.#deps.leases.isSafe()) return 0;
    return claimSize({
      free: this.concurrency - this.#running.size,
      waiting: this.#waiting.size + this.#asked,
      perSecond: this.#rate.perSecond(),
      limited: this.#limited,
      hinted: this.#hinted,
    });
  }

  async #claim(): Promise<void> {
    const { queue, leases, log } = this.#deps;
    clearTimeout(this.#timer);
    this.#fill();
    try {
      const waitMs = await this.#claimAll();
      if (waitMs < Infinity) this.#again(waitMs);
    } catch (error) {
      // The claim may have taken place.
      leases.compare();
      this.#more = true;
      if (!isPassing(error)) log.error({ err: error, queue }, 'jobs could not be claimed');
      this.#again(pauseMs(++this.#failures));
    }
  }

  /** Claims while there is room and more to claim. Returns the milliseconds until the next look. */
  async #claimAll(): Promise<number> {
    let waitMs = Infinity;
    for (let empty = 0; empty < mostEmpty;) {
      const count = this.#wanted();
      if (count === 0) return Infinity;
      const known = this.#limited;
      const { jobs, more, limited, waitMs: own } = await this.#take(count);
      waitMs = Math.min(waitMs, own ?? Infinity);
      // A lane that was emptied of its due jobs may have a delayed one, of which this claim did not learn.
      if (jobs.length > 0 && !more) return Math.min(waitMs, confirmMs);
      if (jobs.length > 0) empty = 0;
      else if (more || (limited && !known)) empty++;
      else return waitMs;
    }
    return waitMs;
  }

  async #take(count: number): Promise<Claim> {
    const { db, queue, leases } = this.#deps;
    const request = { queue, leaseId: leases.id(), count, cursor: this.#cursor };
    this.#asked += count;
    this.#hinted = false;
    const taken = await (
      this.#limited ? db.transaction((sql) => claimLimited(sql, request)) : claimAlone(db, request)
    ).finally(() => (this.#asked -= count));
    this.#cursor = taken.cursor;
    this.#limited = taken.limited;
    this.#more = taken.more;
    this.#failures = 0;
    this.tally.claimed += taken.jobs.length;
    if (request.leaseId === leases.id()) this.#waiting.add(taken.jobs);
    this.#fill();
    return taken;
  }

  #again(ms: number): void {
    clearTimeout(this.#timer);
    if (this.#stopped) return;
    this.#timer = setTimeout(() => this.look(), Math.min(Math.ceil(ms) + 1, longestWaitMs)).unref();
  }

  #fill(): void {
    const { settler, leases } = this.#deps;
    const mayStart = () =>
      !this.#stopped && this.#running.size < this.concurrency && !settler.isFull() && leases.isSafe();
    while (this.#waiting.size > 0 && mayStart()) this.#start(this.#waiting.take()!);
  }

  #start(job: ClaimedJob): void {
    const { settler } = this.#deps;
    const attempt = begin(job, this.handlers.get(job.name), this.#deps);
    const settled = attempt.ended.then(async (end) => {
      const recorded = end === undefined ? undefined : settler.settle(job, end);
      this.tally.ended[endingOf(end)] += 1;
      if (this.settlesEach) await recorded;
      this.#running.delete(job);
      this.#rate.note();
      this.#fill();
      if ((this.#more || this.#limited) && this.#wanted() > 0) this.look();
      else if (settler.isFull()) void recorded?.then(() => this.look());
    });
    this.#running.set(job, { attempt, settled });
  }
}

const endingOf = (end: End | undefined): Ending =>
  end === undefined ? 'recorded' : 'outcome' in end ? end.outcome.state : 'completed';

/** Connections of the background reuse plans anyway; PGlite has one connection, which services use too. */
async function claimAlone(db: Database, request: ClaimRequest): Promise<Claim> {
  if (db.engine === 'postgres') return claim(db.background, request);
  return db.transaction(async (sql) => (await Promise.all([reusePlans(sql), claim(sql, request)]))[1]);
}
