import { newId } from '../../lib/ids.ts';
import { oneAtATime } from '../../lib/one-at-a-time.ts';
import type { Database } from '../index.ts';
import type { Log } from '../log.ts';
import { type CronColumns, cronStore, type DueCron, type Firing } from './crons.store.ts';
import type { Hints } from '../hints.ts';
import { checkedName, type JobInput, newJob } from './job.ts';
import { isPassing, repeated } from './repetition.ts';
import { newestTick, schedule } from './schedule.ts';

/** When a cron entry of the code fires, beside its schedule. */
export interface CronOptions {
  /** IANA name; `UTC` when absent. */
  readonly timezone?: string;
  /** What becomes of missed ticks: one job for all of them, or none for those that are over a minute late. */
  readonly misfire?: 'once' | 'skip';
  /** Whether a tick makes a job while the last one still lives. */
  readonly overlap?: 'allow' | 'skip';
}

/** The job of a cron entry; due times and unique keys come from the entry. */
export type CronJob = Omit<
  JobInput,
  'run_at' | 'delay' | 'unique_key' | 'unique_for' | 'unique_mode' | 'origin_id'
>;

/** A cron entry as it is declared or requested. */
export type CronSource = Omit<CronJob, 'name'> &
  CronOptions & {
    /** The name of the entry. */
    readonly name: string;
    readonly schedule: string;
    readonly job_name: string;
  };

export interface Crons {
  /** Declares an entry of the code, which begins to fire when the crons start. */
  declare(name: string, schedule: string, job: CronJob, options?: CronOptions): void;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface CronsDeps {
  readonly db: Database;
  readonly log: Log;
  readonly hints: Hints;
  readonly maxPayload: number;
}

/** The most milliseconds between two looks for due entries: another process may have made an earlier one. */
const lookMs = 1_000;
/** The most entries of one statement. */
const mostDue = 100;
/** Milliseconds after which a tick is too late for `skip`. */
const lateMs = 60_000;

/** Makes a job at each tick of each cron entry, in whichever process is first. Every process looks; there is no leader. */
export function createCrons({ db, log, hints, maxPayload }: CronsDeps): Crons {
  const store = cronStore(db.background);
  const declared: CronColumns[] = [];
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  const looks = oneAtATime(async () => {
    let pauseMs: number = lookMs;
    try {
      for (let full = true; full && !stopped;) {
        const { now, due, nextInMs } = await store.due(mostDue);
        const firings = due.flatMap((entry) => firingOf(entry, now, log));
        if (firings.length > 0) hints.give(new Set(await store.fire(firings)));
        full = firings.length === mostDue;
        pauseMs = Math.min(lookMs, nextInMs ?? lookMs);
      }
    } catch (error) {
      if (!isPassing(error)) log.error({ err: error }, 'crons could not fire');
    }
    if (!stopped) timer = setTimeout(() => void looks.run(), Math.ceil(pauseMs) + 1).unref();
  });

  async function declareAll(): Promise<void> {
    const now = await store.now();
    for (const entry of declared) {
      const next = schedule(entry.schedule, entry.timezone).next(now);
      await store.declare(newId('cron'), entry, textOf(next));
    }
  }

  return {
    declare(name, schedule, { name: job_name, ...job }, options = {}) {
      declared.push(cronColumns({ ...job, ...options, name, schedule, job_name }, maxPayload));
    },
    async start() {
      await repeated(declareAll, () => stopped);
      void looks.run();
    },
    async stop() {
      stopped = true;
      await looks.settled();
      clearTimeout(timer);
    },
  };
}

/** Checks an entry. @throws Invalid, TooLarge */
export function cronColumns(source: CronSource, maxPayload: number): CronColumns {
  const {
    name,
    schedule: text,
    job_name,
    timezone = 'UTC',
    misfire = 'once',
    overlap = 'allow',
    ...job
  } = source;
  schedule(text, timezone);
  const checked = newJob({ ...job, name: checkedName(job_name, 'job_name') }, '', { maxPayload, now: 0 });
  return {
    tenant_id: checked.tenant,
    app_id: checked.app,
    name: checkedName(name, 'name'),
    schedule: text.trim(),
    timezone,
    job_name: checked.name,
    queue: checked.queue,
    payload: checked.payload,
    tags: checked.tags,
    rank: checked.rank,
    max_attempts: checked.maxAttempts,
    timeout_ms: checked.timeoutMs,
    backoff_type: checked.backoff.type,
    backoff_delay_ms: checked.backoff.delayMs,
    backoff_max_ms: checked.backoff.maxMs,
    misfire,
    overlap,
  };
}

/** What to make of a due entry at the database's time `now`. */
export function firingOf(entry: DueCron, now: number, log: Log): Firing[] {
  const { tenant_id, id, misfire, next_run_at } = entry;
  try {
    const plan = schedule(entry.schedule, entry.timezone);
    const due = Date.parse(next_run_at);
    const tick = newestTick(plan, due, now);
    const skipped = misfire === 'skip' && now - tick > lateMs;
    const next = textOf(plan.next(Math.max(tick, due)));
    return [
      { tenant_id, id, due: next_run_at, tick: skipped ? null : textOf(tick), next, job_id: newId('job') },
    ];
  } catch (error) {
    // A schedule that an older version accepted must not keep the others from firing.
    log.error({ err: error, cron: id }, 'the schedule of a cron entry cannot be read');
    return [];
  }
}

const textOf = (ms: number | undefined): string | null =>
  ms === undefined ? null : new Date(ms).toISOString();
