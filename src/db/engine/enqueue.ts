import { setImmediate as nextTurn } from 'node:timers/promises';
import { DomainError, Invalid, TooLarge, Unavailable } from '../../lib/errors.ts';
import { toDomainError } from '../errors.ts';
import { groupCommit } from '../group-commit.ts';
import type { Database } from '../index.ts';
import type { Sql } from '../sql.ts';
import { enqueueStore } from './enqueue.store.ts';
import { jobIds } from './job-ids.ts';
import { type JobInput, newJob, type NewJob } from './job.ts';
import { limits } from './limits.ts';
import { repeated } from './repetition.ts';
import { createTurns } from './turns.ts';

/** What became of an enqueued job. */
export interface Enqueued {
  /** The id of the new job, or of the one that holds its unique key. */
  readonly id: string;
  /** Whether the job is new. */
  readonly created: boolean;
}

export interface EnqueueDeps {
  readonly db: Database;
  readonly maxPayload: number;
  /** Called after the commit with the queues that have new jobs. */
  readonly hint: (queues: ReadonlySet<string>) => void;
}

export interface Enqueue {
  /**
   * Stores jobs, all or none, in order; in the transaction `tx` if one is given. With `isBatch`, an error names the job in which it
   * is.
   */
  readonly enqueue: (inputs: readonly JobInput[], tx?: Sql, isBatch?: boolean) => Promise<Enqueued[]>;
  /** Stores what was accepted, and accepts nothing more. */
  close(): Promise<void>;
}

/** One call, which is never split over statements. */
interface Call {
  readonly jobs: readonly NewJob[];
  enqueued?: Enqueued[];
  error?: unknown;
}

/** A call with more jobs or bytes does not share a statement: the calls of others would wait for it. */
const mostShared = { jobs: 50, bytes: 256 * 1_024 };
/** The most of these calls that wait. */
const mostLarge = 200;
/** Milliseconds of checks after which other work has its turn. */
const sliceMs = 8;
/** The most calls that wait while the database is busy. */
const mostWaiting = 5_000;
/** The milliseconds for which a call outlives an absence of the database. */
const patienceMs = 2_000;
/** How often a key may change hands while a job tries to get it or to find its holder. */
const mostRounds = 20;

/** Stores new jobs. Concurrent calls of a process share statements, and each is answered after its commit. */
export function createEnqueue({ db, maxPayload, hint }: EnqueueDeps): Enqueue {
  const nextId = jobIds();
  const group = groupCommit<Call>({
    write: (calls) => writeAll(db, calls),
    maxBatch: limits.batch,
    maxBacklog: mostWaiting,
    weight: { of: ({ jobs }) => weightOf(jobs), most: limits.statementBytes },
    overloaded: () => Unavailable('too many jobs are waiting to be stored'),
  });

  const large = createTurns(mostLarge, 'too many jobs are waiting to be stored');

  async function checked(inputs: readonly JobInput[], isBatch: boolean): Promise<NewJob[]> {
    if (inputs.length > limits.batch) throw Invalid(`jobs: must be at most ${limits.batch}`);
    const now = Date.now();
    const check = (input: JobInput) => newJob(input, nextId(), { maxPayload, now });
    const jobs: NewJob[] = [];
    let began = performance.now();
    for (const [at, input] of inputs.entries()) {
      jobs.push(isBatch ? within(`jobs[${at}].`, () => check(input)) : check(input));
      if (performance.now() - began < sliceMs) continue;
      await nextTurn();
      began = performance.now();
    }
    if (weightOf(jobs) > limits.statementBytes + limits.batch * overhead)
      throw TooLarge(`jobs: must have at most ${limits.statementBytes} bytes`);
    return jobs;
  }

  const wake = (jobs: readonly NewJob[]) => hint(new Set(jobs.map(({ queue }) => queue)));

  return {
    async enqueue(inputs, tx, isBatch = false) {
      const jobs = await checked(inputs, isBatch);
      if (jobs.length === 0) return [];
      if (tx !== undefined) {
        const { enqueued, replaced } = await store(tx, jobs);
        if (replaced.size > 0) await enqueueStore(tx).replace(replaced);
        db.afterCommit(tx, () => wake(jobs));
        return enqueued;
      }
      const call: Call = { jobs };
      if (jobs.length > mostShared.jobs || weightOf(jobs) > mostShared.bytes + jobs.length * overhead)
        await large.run(`${jobs[0]!.app}\n${jobs[0]!.tenant}`, () => writeAll(db, [call]));
      else await group.add(call);
      if (call.error !== undefined) throw toDomainError(call.error);
      wake(jobs);
      return call.enqueued!;
    },
    async close() {
      await Promise.all([group.close(), large.idle()]);
    },
  };
}

/** Puts the place of a job before the message of an error in it. */
function within<T>(place: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    throw new DomainError(error.kind, place + error.message, { cause: error });
  }
}

/** The bytes that a job's columns take beside its payload, roughly. */
const overhead = 512;
const weightOf = (jobs: readonly NewJob[]) =>
  jobs.reduce((sum, { payload }) => sum + payload.length + overhead, 0);

/** Writes the jobs of many calls together. If that fails for a reason of its own, each call stands for itself. */
async function writeAll(db: Database, calls: readonly Call[]): Promise<void> {
  const began = performance.now();
  const ended = () => performance.now() - began > patienceMs;
  try {
    const enqueued = await repeated(
      (failures) =>
        write(
          db,
          calls.flatMap(({ jobs }) => jobs),
          failures > 0,
        ),
      ended,
    );
    let at = 0;
    for (const call of calls) call.enqueued = enqueued.slice(at, (at += call.jobs.length));
  } catch (error) {
    const judged = toDomainError(error);
    const alone = calls.length === 1 || judged instanceof DomainError;
    for (const call of calls) {
      if (alone) call.error = judged;
      else
        try {
          call.enqueued = await write(db, call.jobs, true);
        } catch (own) {
          call.error = own;
        }
    }
  }
}

/** Stores jobs in a transaction of their own. When the answer to an earlier try was lost, what is stored already is left alone. */
async function write(db: Database, jobs: readonly NewJob[], again: boolean): Promise<Enqueued[]> {
  if (again) {
    const existing = await enqueueStore(db.sql).existing(jobs);
    const missing = await write(
      db,
      jobs.filter(({ id }) => !existing.has(id)),
      false,
    );
    return jobs.map(({ id }) => (existing.has(id) ? { id, created: true } : missing.shift()!));
  }
  if (jobs.length === 0) return [];
  // A single statement needs no transaction around it. A long one is kept off the connections of the heartbeats.
  const isPlain = jobs.every(({ uniqueKey }) => uniqueKey === null);
  if (isPlain && jobs.length <= mostShared.jobs) return (await store(db.background, jobs)).enqueued;
  if (isPlain) return (await store(db.sql, jobs)).enqueued;
  return writeUnique(db, jobs);
}

/**
 * Stores jobs with keys. Waiting jobs are replaced after the commit: their ends lock the job before its key, so a transaction that holds
 * keys must not wait for jobs. A job that ended meanwhile has left its key to the new one.
 */
async function writeUnique(db: Database, jobs: readonly NewJob[]): Promise<Enqueued[]> {
  const became = new Map<string, Enqueued>();
  let rest = jobs;
  for (let round = 0; rest.length > 0; round++) {
    if (round > mostRounds) throw Unavailable('store busy');
    const { enqueued, replaced } = await db.transaction((sql) => store(sql, rest));
    for (const [at, { id }] of rest.entries()) became.set(id, enqueued[at]!);
    const live = replaced.size === 0 ? new Set() : await enqueueStore(db.sql).replace(replaced);
    rest = [...replaced].flatMap(([existing, job]) => (live.has(existing) ? [] : [job]));
  }
  return jobs.map(({ id }) => became.get(id)!);
}

interface StoredJobs {
  /** What became of each job, in order. */
  readonly enqueued: Enqueued[];
  /** The jobs that replace an existing one, by its id. */
  readonly replaced: ReadonlyMap<string, NewJob>;
}

/** Stores jobs with the given connection. */
async function store(sql: Sql, jobs: readonly NewJob[]): Promise<StoredJobs> {
  const statements = enqueueStore(sql);
  const plain = jobs.filter(({ uniqueKey }) => uniqueKey === null);
  if (plain.length > 0) await statements.insert(plain);
  const became = new Map(plain.map(({ id }) => [id, id]));
  const replaced = new Map<string, NewJob>();
  let rest = jobs.filter(({ uniqueKey }) => uniqueKey !== null);
  for (let round = 0; rest.length > 0; round++) {
    if (round > mostRounds) throw Unavailable('store busy');
    for (const { id, job_id } of await statements.insertUnique(rest)) became.set(id, job_id);
    const losers = rest.filter(({ id }) => !became.has(id));
    const taken = losers.length === 0 ? [] : await statements.holders(losers);
    for (const { id, job_id } of taken) became.set(id, job_id);
    noteReplaced(replaced, losers, became);
    rest = losers.filter(({ id }) => !became.has(id));
  }
  return {
    enqueued: jobs.map(({ id }) => ({ id: became.get(id)!, created: became.get(id) === id })),
    replaced,
  };
}

/** Of several jobs of one call that replace the same one, the last counts. */
function noteReplaced(
  replaced: Map<string, NewJob>,
  losers: readonly NewJob[],
  became: ReadonlyMap<string, string>,
): void {
  for (const job of losers) {
    const existing = became.get(job.id);
    if (job.replaces && existing !== undefined) replaced.set(existing, job);
  }
}
