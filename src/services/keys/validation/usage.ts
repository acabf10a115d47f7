import type { UsageRecord } from '../../../../generated/keys/types.ts';
import { groupCommit } from '../../../db/group-commit.ts';
import type { Log } from '../../../db/index.ts';
import { RateLimited } from '../../../lib/errors.ts';
import type { RefusalCount } from './journal.store.ts';

export interface Recorder {
  /** Throws `RateLimited` while more waits to be written than this process may hold. */
  checkRoom(): void;
  /** Resolves when the record is committed. Answers its id; null when it was counted instead. */
  keep(record: UsageRecord): Promise<string | null>;
  /** Answers at once; the record is written with one of the next commits. */
  defer(record: UsageRecord): string | null;
  /** Resolves when all of these are committed. They are records each, whatever their outcome. */
  keepAll(records: readonly UsageRecord[]): Promise<void>;
  /** Writes what is still deferred and takes nothing any more. */
  stop(): Promise<void>;
}

export interface RecorderOptions {
  /** Commits what came together, as one row. */
  readonly append: (records: readonly UsageRecord[], counts: readonly RefusalCount[]) => Promise<void>;
  /** Records that may wait, in this process. */
  readonly backlog: number;
  readonly log: Log;
}

/** A record, or one refusal that is counted only. */
type Item = { readonly record: UsageRecord } | { readonly refused: UsageRecord };

/** Records of one commit at most. */
const batchSize = 500;
/** How long deferred records wait for each other. */
const lingerMs = 50;
/** How long a store that refused is left alone. */
const retryMs = 1_000;
/** Refusals of one key that are recorded one by one in a minute; the others are counted. */
const refusalsRecorded = 60;

/**
 * Accounts for every use (5.7). One commit is in flight at a time and carries all that arrived during the one before, so a
 * commit is shared by all concurrent validations. An attacker's refusals cannot fill the table, and none is lost from the
 * counts.
 */
export function createRecorder({ append, backlog, log }: RecorderOptions): Recorder {
  const refusals = refusalMeter();
  const deferred: Item[] = [];
  /** Items that were taken and are neither committed nor refused. */
  let waiting = 0;

  const overloaded = () => RateLimited('usage backlog is full', { retryAfter: 1 });
  const commits = groupCommit<Item>({
    write: (items) => append(recordsOf(items), countsOf(items)),
    maxBatch: batchSize,
    maxBacklog: Number.MAX_SAFE_INTEGER,
    overloaded,
  });
  let retryAt = 0;
  const timer = setInterval(() => {
    if (performance.now() >= retryAt) void writeDeferred();
  }, lingerMs);
  timer.unref();

  function checkRoom(): void {
    if (waiting >= backlog) throw overloaded();
  }

  async function commit(items: readonly Item[]): Promise<void> {
    waiting += items.length;
    try {
      await commits.add(...items);
    } finally {
      waiting -= items.length;
    }
  }

  /** What cannot be written now stays deferred: ids make a repeated record count once. */
  async function writeDeferred(): Promise<void> {
    const chunks: Item[][] = [];
    while (deferred.length > 0) chunks.push(deferred.splice(0, batchSize));
    await Promise.all(
      chunks.map(async (items) => {
        waiting -= items.length;
        try {
          await commit(items);
        } catch (error) {
          log.warn({ err: error, records: items.length }, 'deferred usage records could not be written yet');
          waiting += items.length;
          deferred.push(...items);
          retryAt = performance.now() + retryMs;
        }
      }),
    );
  }

  const itemOf = (record: UsageRecord): Item =>
    record.outcome === 'VALID' || refusals.mayRecord(record) ? { record } : { refused: record };

  return {
    checkRoom,
    async keep(record) {
      checkRoom();
      const item = itemOf(record);
      await commit([item]);
      return 'record' in item ? record.id : null;
    },
    defer(record) {
      checkRoom();
      const item = itemOf(record);
      waiting += 1;
      deferred.push(item);
      return 'record' in item ? record.id : null;
    },
    async keepAll(records) {
      checkRoom();
      await commit(records.map((record) => ({ record })));
    },
    async stop() {
      clearInterval(timer);
      await writeDeferred();
      await commits.close();
    },
  };
}

/** Counts the refusals of each key in the current minute. */
function refusalMeter() {
  let minute = '';
  const counts = new Map<string, number>();
  return {
    mayRecord({ key_id, created_at }: UsageRecord): boolean {
      const now = created_at.slice(0, 16);
      if (now !== minute) {
        minute = now;
        counts.clear();
      }
      const count = (counts.get(key_id) ?? 0) + 1;
      counts.set(key_id, count);
      return count <= refusalsRecorded;
    },
  };
}

const recordsOf = (items: readonly Item[]): UsageRecord[] =>
  items.flatMap((item) => ('record' in item ? [item.record] : []));

/** Adds up what was refused, by key, hour and outcome. */
function countsOf(items: readonly Item[]): RefusalCount[] {
  const counts = new Map<string, RefusalCount>();
  for (const item of items) {
    if ('record' in item) continue;
    const { tenant_id, key_id, outcome, created_at } = item.refused;
    const hour = `${created_at.slice(0, 13)}:00:00.000Z`;
    const name = `${key_id} ${hour} ${outcome}`;
    const count = (counts.get(name)?.count ?? 0) + 1;
    counts.set(name, { tenant_id, key_id, hour, outcome, count });
  }
  return [...counts.values()];
}
