import { randomUUID } from 'node:crypto';
import { oneAtATime } from '../lib/one-at-a-time.ts';
import { changeLog, type ChangeLog } from './change-log.ts';
import { DatabaseClock, monotonic } from './clock.ts';
import type { Database } from './index.ts';
import type { Log } from './log.ts';
import { positions } from './positions.ts';
import type { Sql } from './sql.ts';
import type { Sweep } from './sweeps.ts';
import { follow } from './tail.ts';

/** Tells that something on which cached answers depend has changed: `{ kind: 'key', id: 'key_01h…' }`. */
export interface Change {
  readonly kind: string;
  readonly id: string;
}

/** A change, with its effect when readers of the log need to know more than that something changed. */
export interface RecordedChange extends Change {
  /** A word that the service defines. Only `detailed` logs store it. */
  readonly effect?: string;
  /** The change affects what was issued until this many milliseconds after the transaction began; with null, nothing. */
  readonly reach?: number | null;
}

export interface LoggedChange extends Change {
  /** The change's number in the log. Numbers may become visible out of order. */
  readonly seq: number;
  /** Only in a `detailed` log. */
  readonly effect?: string;
  /** The change affects what was issued before this moment. Only in a `detailed` log. */
  readonly before?: string;
}

/** A cached entry's position in the sequence of changes, taken before the entry's value is read. */
export type Position = number;

export interface Changes {
  /** Announces changes in the caller's transaction. This process has applied them when `transaction` returns; other processes follow. */
  record(sql: Sql, ...changes: readonly RecordedChange[]): Promise<void>;
  /** The current position. Take it **before** reading the value to cache, so that a change that races the read wins. */
  position(): Position;
  /**
   * Whether an entry with this position may be used: no change of its subjects has arrived since, and this process certainly has not
   * missed any change for longer than the staleness bound. False is always safe.
   */
  isCurrent(position: Position, subjects: readonly Change[]): boolean;
  /** Whether this process has heard from the database within the staleness bound. If not, no cached value may be used. */
  fresh(): boolean;
  /** The database's clock, measured with every reading of the log. */
  readonly clock: Pick<DatabaseClock, 'now' | 'uncertainty'>;
  /**
   * Calls `listener` at least once for every change, or with `all` when changes were missed and all cached values must be dropped.
   * Returns a function that ends the subscription.
   */
  subscribe(listener: (change: LoggedChange | 'all') => void): () => void;
  /** Returns the changes after `seq`, possibly with repeats; undefined when the log no longer reaches back that far. */
  since(seq: number): Promise<LoggedChange[] | undefined>;
  /** Deletes the rows of the log that no reader needs any more. The service declares it. */
  readonly sweep: Sweep;
  /** Starts following the log; resolves when caches may be used. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface ChangesOptions {
  readonly db: Database;
  /** The schema with the table `changes`. */
  readonly schema: string;
  /** Whether that table stores the effect of a change, in the columns `effect` and `before`. */
  readonly detailed?: boolean;
  /** Milliseconds that rows stay in the log; a process that has not read the log for half of that time drops its caches. */
  readonly retentionMs?: number;
  readonly log: Log;
  /** Milliseconds between two polls, which are also the heartbeat. */
  readonly pollMs?: number;
  /** The maximum age of a cached answer in milliseconds while the database is not heard. */
  readonly stalenessMs?: number;
  /** A monotonic clock, in milliseconds. */
  readonly now?: () => number;
}

/** The most numbers of applied changes to remember, so that a change is applied twice only when thousands happen at once. */
const remembered = 10_000;

/**
 * Change notices for caches in every process. A change is a row that commits together with the data that changed; a notice makes
 * the other processes read the log at once, and each reads it every 500 ms anyway. A process that could not read the log for 1.5 s
 * does not use its caches. On PGlite there is only one process: it applies its own changes and has nothing to wait for.
 */
export function createChanges(options: ChangesOptions): Changes {
  const { db, schema, retentionMs = 3_600_000, log, pollMs = 500, stalenessMs = 1_500 } = options;
  const { now = () => performance.now() } = options;
  const table = changeLog(db, schema, options.detailed);
  const seen = positions();
  const listeners = new Set<(change: LoggedChange | 'all') => void>();
  const alone = db.engine === 'pglite';
  const channel = `${schema}_changes`;
  /** Marks this process's own notices, which it ignores because it has already applied their changes. */
  const self = randomUUID();
  const clock = new DatabaseClock();
  const reader = logReader({ table, retentionMs, now, clock, apply, forget });
  let unfollow = () => {};

  function apply(change: LoggedChange): void {
    seen.mark(change);
    for (const listener of listeners) listener(change);
  }

  function forget(): void {
    seen.forget();
    for (const listener of listeners) listener('all');
  }

  const fresh = () => alone || now() - reader.heardAt() <= stalenessMs;
  const poll = () =>
    void reader
      .read()
      .catch((error: unknown) => log.warn({ err: error, schema }, 'changes could not be read'));

  return {
    async record(sql, ...list) {
      const [logged] = await Promise.all([
        table.append(sql, list),
        alone ? undefined : db.notices.send(sql, channel, self),
      ]);
      db.afterCommit(sql, () => {
        reader.know(logged).forEach(apply);
      });
    },
    position: () => seen.position(),
    isCurrent: (position, subjects) => fresh() && seen.isCurrent(position, subjects),
    fresh,
    clock,
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    since: (seq) => table.since(seq),
    sweep: {
      name: `${schema}.changes`,
      everyMs: retentionMs / 6,
      batch: 1,
      steps: [
        async () => {
          await table.prune(retentionMs);
          return 0;
        },
      ],
    },
    async start() {
      if (!alone) await reader.read();
      const onNotice = (sender: string) => void (sender !== self && poll());
      unfollow = follow({ db, channel, pollMs, onNotice, poll, forget });
    },
    async stop() {
      unfollow();
      await reader.settled();
    },
  };
}

/** Reads the log from the last position, one reading at a time. */
function logReader({
  table,
  retentionMs,
  now,
  clock,
  apply,
  forget,
}: {
  table: ChangeLog;
  retentionMs: number;
  now: () => number;
  clock: DatabaseClock;
  apply: (change: LoggedChange) => void;
  forget: () => void;
}) {
  let snapshot: string | null = null;
  let heardAt = -Infinity;
  /** Changes of this process that were applied before they were read. */
  const known = new Set<number>();
  /** Changes that were applied when they were read; some may be this process's own, whose commit it has not noticed yet. */
  const early = new Set<number>();

  const reading = oneAtATime(async () => {
    const [began, sent] = [now(), monotonic()];
    const lost = snapshot === null || began - heardAt > retentionMs / 2;
    const result = await table.read(lost ? null : snapshot);
    clock.observe(result.now, sent, monotonic());
    if (lost || result.overflow) {
      known.clear();
      forget();
    } else
      for (const change of result.changes) {
        if (known.delete(change.seq)) continue;
        if (early.size > remembered) early.clear();
        early.add(change.seq);
        apply(change);
      }
    snapshot = result.snapshot;
    heardAt = began;
  });

  return {
    read: reading.run,
    /** When the last successful reading began. */
    heardAt: () => heardAt,
    /**
     * Notes changes of this process as applied without reading them. Returns the changes that are still to be applied: a change may
     * be read from the log before its own process learns of the commit.
     */
    know(changes: readonly LoggedChange[]): LoggedChange[] {
      if (known.size > remembered) known.clear();
      return changes.filter(({ seq }) => {
        const applied = early.delete(seq);
        if (!applied) known.add(seq);
        return !applied;
      });
    },
    settled: reading.settled,
  };
}
