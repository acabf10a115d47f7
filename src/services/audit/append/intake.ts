import { repeated } from '../../../db/engine/repetition.ts';
import { toDomainError } from '../../../db/errors.ts';
import { groupCommit } from '../../../db/group-commit.ts';
import type { Database, Sql } from '../../../db/index.ts';
import type { QueueFigures } from '../../../http/service.ts';
import { DomainError, RateLimited } from '../../../lib/errors.ts';
import { UnreadableKey } from '../keys/sealed-keys.ts';
import { appendStore } from './append.store.ts';
import { limits } from './limits.ts';
import { record, type Recorded, type Recording, type RecordingDeps } from './recording.ts';

/** Records the events of all requests, many in one transaction. */
export interface Intake {
  /** Resolves when the events are committed. @throws RateLimited when too many wait, Conflict for a key of another event */
  add(recording: Recording): Promise<readonly Recorded[]>;
  /** Records what was accepted, and accepts nothing more. */
  close(): Promise<void>;
  readonly queues: () => readonly QueueFigures[];
}

export interface IntakeDeps extends RecordingDeps {
  readonly db: Database;
  /** The most events that wait, and the most that share a transaction. */
  readonly mostWaiting: number;
  readonly mostTogether: number;
}

/** The milliseconds for which events outlive an absence of the database. */
const patienceMs = 10_000;
/** The most bytes of one transaction. A larger request has one to itself. */
const mostBytes = 4 * 1_024 * 1_024;

/**
 * Events that arrive while a transaction is under way share the next one, so that a commit costs the same for one writer as for
 * hundreds.
 */
export function createIntake(deps: IntakeDeps): Intake {
  const { mostWaiting, mostTogether } = deps;
  let events = 0;
  let bytes = 0;
  let refused = 0;
  // An event weighs at least its part of the most events of a transaction.
  const least = Math.ceil(mostBytes / mostTogether);
  const group = groupCommit<Recording>({
    write: (recordings) => writeAll(deps, recordings),
    maxBatch: mostTogether,
    maxBacklog: Infinity,
    weight: {
      of: ({ events }) => events.reduce((sum, { event }) => sum + Math.max(least, event.bytes), 0),
      most: mostBytes,
    },
    overloaded: queueFull,
  });

  return {
    async add(recording) {
      const count = recording.events.length;
      const size = recording.events.reduce((sum, { event }) => sum + event.bytes, 0);
      if (events + count > mostWaiting || bytes + size > limits.waitingBytes) {
        refused += 1;
        throw queueFull();
      }
      events += count;
      bytes += size;
      try {
        await group.add(recording);
      } finally {
        events -= count;
        bytes -= size;
      }
      if (recording.error !== undefined) throw recording.error;
      return recording.recorded!;
    },
    close: () => group.close(),
    queues: () => [{ queue: 'audit.events', running: 0, waiting: events, refused }],
  };
}

const queueFull = () => RateLimited('ingest queue is full', { retryAfter: 1 });

/** Records requests together. If that fails for a reason of one of them, each stands for itself. */
async function writeAll(deps: IntakeDeps, recordings: readonly Recording[]): Promise<void> {
  const began = performance.now();
  const ended = () => performance.now() - began > patienceMs;
  const write = (some: readonly Recording[]) =>
    repeated(
      (failures) =>
        deps.db.transaction(async (sql) => {
          // A connection that is lost during the commit does not tell whether it took place.
          if (failures === 0 || !(await isStored(sql, some))) await record(sql, some, deps);
        }),
      ended,
    );
  try {
    await write(recordings);
  } catch (error) {
    const isOfOne = error instanceof UnreadableKey || !(toDomainError(error) instanceof DomainError);
    if (recordings.length === 1 || !isOfOne) throw error;
    for (const recording of recordings)
      await write([recording]).catch((own: Error) => (recording.error = own));
  }
}

/** Whether the last transaction for these requests was committed: then all its events are stored. */
async function isStored(sql: Sql, recordings: readonly Recording[]): Promise<boolean> {
  const [first] = recordings
    .flatMap(({ recorded = [] }) => recorded)
    .filter(({ chained }) => chained !== undefined);
  return first !== undefined && (await appendStore(sql).exists(first.id));
}
