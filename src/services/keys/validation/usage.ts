import type { UsageRecord } from '../../../../generated/keys/types.ts';
import { groupCommit } from '../../../db/group-commit.ts';
import type { Log } from '../../../db/index.ts';
import { boundedBacklog, type QueueLoad } from '../../../lib/bounded-queue.ts';
import { RateLimited } from '../../../lib/errors.ts';
import type { RefusalCount } from './journal.store.ts';

export interface Recorder {
  /** Checks that this process may hold more waiting records. @throws RateLimited when it may not */
  checkRoom(): void;
  /** Resolves when the record is committed. Returns its id, or null when it was only counted. */
  keep(record: UsageRecord): Promise<string | null>;
  /** Returns at once. The record is written with one of the next commits. */
  defer(record: UsageRecord): string | null;
  /** Resolves when all of these are committed. Each is stored as a record, whatever its outcome. */
  keepAll(records: readonly UsageRecord[]): Promise<void>;
  /** The records that wait to be committed, for the metrics. */
  readonly load: () => QueueLoad;
  /** Writes deferred records and accepts no more. */
  stop(): Promise<void>;
}

export interface RecorderOptions {
  /** Commits everything that arrived together, as one row. */
  readonly append: (records: readonly UsageRecord[], counts: readonly RefusalCount[]) => Promise<void>;
  /** Maximum number of records that wait in this process. */
  readonly backlog: number;
  readonly log: Log;
}

/** A record, or a refusal that is only counted. */
type Item = { readonly record: UsageRecord } | { readonly refused: UsageRecord };

/** Maximum number of records per commit. */
const batchSize = 500;
/** Milliseconds for which deferred records wait for each other. */
const lingerMs = 50;
/** Milliseconds to wait after the store failed. */
const retryMs = 1_000;
/** Refusals of one key that are recorded per minute. Further ones are only counted. */
const refusalsRecorded = 60;

/**
 * Accounts for every use (5.7). One commit is in flight at a time and carries everything that arrived during the previous one,
 * so concurrent validations share a commit. An attacker's refusals cannot fill the table, and none is missing from the counts.
 */
export function createRecorder({ append, backlog, log }: RecorderOptions): Recorder {
  const refusals = refusalMeter();
  const deferred: Item[] = [];
  const overloaded = () => RateLimited('usage backlog is full', { retryAfter: 1 });
  /** Accepted items that are neither committed nor rejected. */
  const waiting = boundedBacklog(backlog, overloaded);
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

  async function commit(items: readonly Item[]): Promise<void> {
    waiting.add(items.length);
    try {
      await commits.add(...items);
    } finally {
      waiting.remove(items.length);
    }
  }

  /** Records that cannot be written now stay deferred. Their ids make a repeated record count once. */
  async function writeDeferred(): Promise<void> {
    const chunks: Item[][] = [];
    while (deferred.length > 0) chunks.push(deferred.splice(0, batchSize));
    await Promise.all(
      chunks.map(async (items) => {
        waiting.remove(items.length);
        try {
          await commit(items);
        } catch (error) {
          log.warn({ err: error, records: items.length }, 'deferred usage records could not be written yet');
          waiting.add(items.length);
          deferred.push(...items);
          retryAt = performance.now() + retryMs;
        }
      }),
    );
  }

  const itemOf = (record: UsageRecord): Item =>
    record.outcome === 'VALID' || refusals.mayRecord(record) ? { record } : { refused: record };

  return {
    checkRoom: waiting.checkRoom,
    load: waiting.load,
    async keep(record) {
      waiting.checkRoom();
      const item = itemOf(record);
      await commit([item]);
      return 'record' in item ? record.id : null;
    },
    defer(record) {
      waiting.checkRoom();
      const item = itemOf(record);
      waiting.add(1);
      deferred.push(item);
      return 'record' in item ? record.id : null;
    },
    async keepAll(records) {
      waiting.checkRoom();
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

/** Adds up refusals by key, hour and outcome. */
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
