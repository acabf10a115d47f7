import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { changeLog, type ChangeLog } from './change-log.ts';
import type { Database } from './index.ts';
import type { Log } from './log.ts';
import { periodic } from './periodic.ts';
import { positions } from './positions.ts';
import type { Sql } from './sql.ts';

/** That something cached answers depend on is no longer what it was: `{ kind: 'key', id: 'key_01h…' }`. */
export interface Change {
  readonly kind: string;
  readonly id: string;
}

/** A change, and where readers of the log need more than that something changed, what it does. */
export interface RecordedChange extends Change {
  /** A word of the service's own. Only logs that are `detailed` keep it. */
  readonly effect?: string;
  /** Milliseconds after the beginning of the transaction before which it counts; null where it counts for nothing that was given out. */
  readonly reach?: number | null;
}

export interface LoggedChange extends Change {
  /** Where it stands in the log. Numbers may become visible out of order. */
  readonly seq: number;
  /** Of a log that is `detailed`. */
  readonly effect?: string;
  /** The moment before which it counts. */
  readonly before?: string;
}

/** A cached entry's place in the course of changes, taken before what it holds is read. */
export type Position = number;

export interface Changes {
  /** Announces changes in the caller's transaction. This process has applied them when `transaction` returns; the others follow. */
  record(sql: Sql, ...changes: readonly RecordedChange[]): Promise<void>;
  /** Take it **before** reading what will be cached: a change that races the read then wins. */
  position(): Position;
  /**
   * Whether an entry with this position may be used: no change of its subjects has arrived since, and this process is certain not to
   * have missed any for longer than the staleness bound. False is always safe.
   */
  isCurrent(position: Position, subjects: readonly Change[]): boolean;
  /** Whether this process has heard from the database within the staleness bound. Nothing cached may be used while it is false. */
  fresh(): boolean;
  /** Calls `listener` for every change, at least once, or with `all` when changes were missed and everything has to be forgotten. Returns what stops it. */
  subscribe(listener: (change: LoggedChange | 'all') => void): () => void;
  /** What came after change `seq`, some of it possibly again; undefined when the log no longer reaches back that far. */
  since(seq: number): Promise<LoggedChange[] | undefined>;
  /** Resolves when caches may be used. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface ChangesOptions {
  readonly db: Database;
  /** The schema that has the table `changes`; see `change-log.ts` for its columns. */
  readonly schema: string;
  /** Whether that table keeps what a change does, in the columns `effect` and `before`. */
  readonly detailed?: boolean;
  /** Milliseconds that rows stay in the log; a process that has not heard from it for half of that starts over. */
  readonly retentionMs?: number;
  readonly log: Log;
  /** Polling, which is the heartbeat too. */
  readonly pollMs?: number;
  /** The oldest that a cached answer can be when the database cannot be heard. */
  readonly stalenessMs?: number;
  /** Milliseconds of a clock that never jumps. */
  readonly now?: () => number;
}

/** Numbers of changes that are remembered, so that none is applied twice but where thousands happen at once. */
const remembered = 10_000;

/**
 * Change notices for caches in every process. A change is a row that commits with what it is about; a notice makes the other
 * processes look at once, and each looks every 500 ms anyway. A process that could not look for 1.5 s does not use its caches.
 * On PGlite there is one process: it applies its own changes and has nothing to wait for.
 */
export function changes(options: ChangesOptions): Changes {
  const { db, schema, retentionMs = 3_600_000, log, pollMs = 500, stalenessMs = 1_500 } = options;
  const { now = () => performance.now() } = options;
  const table = changeLog(db, schema, options.detailed);
  const seen = positions();
  const listeners = new Set<(change: LoggedChange | 'all') => void>();
  const alone = db.engine === 'pglite';
  const channel = `${schema}_changes`;
  /** Of this process's notices, which tell it nothing that it has not applied. */
  const self = randomUUID();
  const poller = follow({ table, retentionMs, now, apply, forget });
  const background: { stop(): unknown }[] = [];
  const stopped = new AbortController();
  let polling: Promise<void> | undefined;

  function apply(change: LoggedChange): void {
    seen.mark(change);
    for (const listener of listeners) listener(change);
  }

  function forget(): void {
    seen.forget();
    for (const listener of listeners) listener('all');
  }

  const fresh = () => alone || now() - poller.heardAt() <= stalenessMs;
  const poke = () =>
    void poller
      .poll()
      .catch((error: unknown) => log.warn({ err: error, schema }, 'changes could not be read'));

  async function heartbeat(): Promise<void> {
    while (!stopped.signal.aborted) {
      await delay(pollMs, undefined, { signal: stopped.signal, ref: false }).catch(() => {});
      if (!stopped.signal.aborted) poke();
    }
  }

  return {
    async record(sql, ...list) {
      const [logged] = await Promise.all([
        table.append(sql, list),
        alone ? undefined : db.notices.send(sql, channel, self),
      ]);
      db.afterCommit(sql, () => {
        poller.know(logged).forEach(apply);
      });
    },
    position: () => seen.position(),
    isCurrent: (position, subjects) => fresh() && seen.isCurrent(position, subjects),
    fresh,
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    since: (seq) => table.since(seq),
    async start() {
      background.push(
        periodic({
          db,
          name: `${schema}.changes`,
          everyMs: retentionMs / 6,
          log,
          run: () => table.prune(retentionMs),
        }),
      );
      if (alone) return;
      await poller.poll();
      const onNotice = (sender: string) => void (sender !== self && poke());
      background.push({ stop: db.notices.listen(channel, onNotice, poke) });
      polling = heartbeat();
    },
    async stop() {
      stopped.abort();
      await Promise.all(background.map((part) => part.stop()));
      await polling;
      await poller.settled();
    },
  };
}

/** Reads the log from where it was read last, one reading at a time; a call during a reading causes one more after it. */
function follow({
  table,
  retentionMs,
  now,
  apply,
  forget,
}: {
  table: ChangeLog;
  retentionMs: number;
  now: () => number;
  apply: (change: LoggedChange) => void;
  forget: () => void;
}) {
  let snapshot: string | null = null;
  let heardAt = -Infinity;
  /** Applied before they were read. */
  const known = new Set<number>();
  /** Applied because they were read; of this process's own it may not have heard yet. */
  const early = new Set<number>();
  let current: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  async function read(): Promise<void> {
    const began = now();
    const lost = snapshot === null || began - heardAt > retentionMs / 2;
    const result = await table.read(lost ? null : snapshot);
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
  }

  function poll(): Promise<void> {
    if (current !== undefined) return (next ??= current.catch(() => {}).then(begin));
    return begin();
  }

  function begin(): Promise<void> {
    next = undefined;
    current = read().finally(() => (current = undefined));
    return current;
  }

  return {
    poll,
    /** When the last successful reading began. */
    heardAt: () => heardAt,
    /**
     * Notes changes of this process as applied without reading them. Answers those that are still to be applied: the notice of a commit
     * may be read before its own process hears of it.
     */
    know(changes: readonly LoggedChange[]): LoggedChange[] {
      if (known.size > remembered) known.clear();
      return changes.filter(({ seq }) => {
        const applied = early.delete(seq);
        if (!applied) known.add(seq);
        return !applied;
      });
    },
    settled: async () => void (await Promise.allSettled([current, next])),
  };
}
