import { constrained } from '../../../db/constraints.ts';
import { repeated } from '../../../db/engine/repetition.ts';
import { toDomainError } from '../../../db/errors.ts';
import { groupCommit } from '../../../db/group-commit.ts';
import type { Database } from '../../../db/index.ts';
import type { QueueFigures } from '../../../http/service.ts';
import { DomainError, Unavailable } from '../../../lib/errors.ts';
import { Refused } from '../errors.ts';
import { ingestStore } from './ingest.store.ts';
import type { NewUsage } from './new-usage.ts';
import { createTurns } from './turns.ts';
import { createWaitingRoom } from './waiting-room.ts';

/** Stores the events of all requests, many in one transaction. */
export interface Intake {
  /**
   * Resolves when the events are committed and counted, with the id of what is stored for each: its own, or that of an earlier event
   * with its key. @throws DomainError with the code `meter_buffer_full` when too many wait; then nothing of the request is stored
   */
  add(events: readonly NewUsage[]): Promise<ReadonlyMap<string, string>>;
  /** Stores what was taken, and takes nothing more. */
  close(): Promise<void>;
  readonly queues: () => readonly QueueFigures[];
}

export interface IntakeDeps {
  readonly db: Pick<Database, 'sql' | 'transaction'>;
  /** The most events that wait, and the most that share a transaction. */
  readonly mostWaiting: number;
  readonly mostTogether: number;
}

/** The events of one request, which are stored all or none. */
interface Recording {
  readonly events: readonly NewUsage[];
  stored?: ReadonlyMap<string, string>;
  /** Why none is stored. */
  error?: Error;
}

/** The milliseconds for which events outlive an absence of the database. */
const patienceMs = 10_000;
/** The most bytes of the events that wait in this process. */
const mostBytesWaiting = 64 * 1_024 * 1_024;
/** The most bytes of the events of one statement, which the driver writes without a pause. Only a request that has more takes several. */
const mostBytesTogether = 768 * 1_024;

/**
 * Events that arrive while a transaction is under way share the next one, which begins as soon as it is over: batches come from load
 * and never from a timer, and a commit costs the same for one sender as for hundreds.
 */
export function createIntake(deps: IntakeDeps): Intake {
  const { mostWaiting, mostTogether } = deps;
  const room = createWaitingRoom({ events: mostWaiting, bytes: mostBytesWaiting });
  // An event weighs at least its part of the most events of a transaction.
  const least = Math.ceil(mostBytesTogether / mostTogether);
  const weightOf = (events: readonly NewUsage[]) =>
    events.reduce((sum, { bytes }) => sum + Math.max(least, bytes), 0);
  const turns = createTurns(mostBytesTogether);
  let isClosed = false;
  const group = groupCommit<Recording>({
    write: (recordings) => writeAll(deps, recordings),
    maxBatch: mostTogether,
    maxBacklog: Infinity,
    weight: {
      of: ({ events }) => weightOf(events),
      most: mostBytesTogether,
    },
    overloaded: bufferFull,
  });

  return {
    async add(events) {
      if (events.length === 0) return new Map();
      if (isClosed) throw Unavailable('shutting down');
      const leave = room.enter(events);
      if (leave === undefined) throw bufferFull();
      const recording: Recording = { events };
      try {
        await turns.take(senderOf(events), weightOf(events), () => group.add(recording));
      } finally {
        leave();
      }
      if (recording.error !== undefined) throw recording.error;
      return recording.stored!;
    },
    async close() {
      isClosed = true;
      await turns.idle();
      await group.close();
    },
    queues: () => [{ queue: 'billing.usage', running: 0, ...room.load() }],
  };
}

/** Whose turn events take: their tenant's or, if they are of several, that of all such requests, which only the operator sends. */
const senderOf = ([first, ...others]: readonly NewUsage[]): string =>
  first !== undefined && others.every(({ tenant }) => tenant === first.tenant) ? first.tenant : '';

const bufferFull = () =>
  Refused('meter_buffer_full', 'too many usage events wait to be stored', {
    kind: 'rateLimited',
    retryAfter: 1,
  });

/** Stores requests together. If the database refuses their data, each stands for itself, so that only the guilty one fails. */
async function writeAll({ db }: IntakeDeps, recordings: readonly Recording[]): Promise<void> {
  const began = performance.now();
  const ended = () => performance.now() - began > patienceMs;
  const write = async (some: readonly Recording[]) => {
    const events = some.flatMap((recording) => recording.events).sort(byKey);
    const stored = await repeated(() => storedOnce(db, events), ended);
    for (const recording of some) recording.stored = stored;
  };
  try {
    await write(recordings);
  } catch (error) {
    const isTheirs = recordings.length > 1 && !(toDomainError(error) instanceof DomainError);
    if (!isTheirs) throw error;
    for (const recording of recordings)
      await write([recording]).catch((own: Error) => (recording.error = own));
  }
}

/**
 * Stores events under the same ids however often it is called: a connection that is lost during the commit does not tell whether it
 * took place, and then the next call finds them stored.
 */
async function storedOnce(db: IntakeDeps['db'], events: readonly NewUsage[]): Promise<Map<string, string>> {
  const stored = new Map<string, string>();
  for (const id of await constrained(segmentReplaced, insert(db, events))) stored.set(id, id);
  const others = events.filter(({ id }) => !stored.has(id));
  if (others.length === 0) return stored;
  for (const { sent, id } of await ingestStore(db.sql).find(others)) stored.set(sent, id);
  // What was in the way is gone again.
  if (stored.size < events.length) throw Unavailable('store busy');
  return stored;
}

async function insert(db: IntakeDeps['db'], events: readonly NewUsage[]): Promise<string[]> {
  const [first = [], ...others] = ofBoundedSize(events);
  if (others.length === 0) return await ingestStore(db.sql).insert(first);
  return await db.transaction(async (sql) => {
    const ids = await ingestStore(sql).insert(first);
    for (const some of others) ids.push(...(await ingestStore(sql).insert(some)));
    return ids;
  });
}

/** Divides events for several statements, in their order. */
function ofBoundedSize(events: readonly NewUsage[]): NewUsage[][] {
  const parts: NewUsage[][] = [];
  let left = 0;
  for (const event of events) {
    if (left < event.bytes) {
      parts.push([]);
      left = mostBytesTogether;
    }
    parts.at(-1)!.push(event);
    left -= event.bytes;
  }
  return parts;
}

/** A segment that was replaced between the look at it and the count in it is looked for again. */
const segmentReplaced = { usage_total_segment: () => Unavailable('store busy') };

/** All processes take keys in this order, so that no two wait for each other. */
function byKey(a: NewUsage, b: NewUsage): number {
  return (
    compared(a.tenant, b.tenant) ||
    compared(a.app, b.app) ||
    compared(a.idempotencyKey ?? '', b.idempotencyKey ?? '') ||
    compared(a.id, b.id)
  );
}

const compared = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
