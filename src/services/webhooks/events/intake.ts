import { repeated } from '../../../db/engine/repetition.ts';
import { isContention, toDomainError } from '../../../db/errors.ts';
import { groupCommit } from '../../../db/group-commit.ts';
import { DomainError, Unavailable } from '../../../lib/errors.ts';
import type { Deps } from '../deps.ts';
import { acceptStore, type NewEvent, type StoredEvent } from './accept.store.ts';

/** What the statement made of an event; neither member is set when it did not store it. */
export interface Stored {
  readonly event: NewEvent;
  stored?: StoredEvent | undefined;
  error?: Error;
}

export interface Intake {
  /** Stores events, each for itself, and tells by id what became of each. */
  store(events: readonly NewEvent[]): Promise<ReadonlyMap<string, Stored>>;
  close(): Promise<void>;
}

/** The most events and bytes of one statement, and of all events that wait for one. */
const mostEvents = 200;
const mostBytes = 4 * 1024 * 1024;
const mostWaiting = 5_000;
const mostBytesWaiting = 64 * 1024 * 1024;
/** The bytes that an event's columns take besides its data, roughly. */
const overhead = 512;
/** The bytes that a delivery counts for, so that events with many deliveries go in smaller statements. */
const deliveryBytes = 400;
/** The milliseconds for which an event outlives an absence of the database. */
const patienceMs = 2_000;

/** Lets events of all requests share statements: those that arrive while one runs are stored by the next one. */
export function createIntake({
  db,
  settings,
  dispatcher,
}: Pick<Deps, 'db' | 'settings' | 'dispatcher'>): Intake {
  let bytesWaiting = 0;
  /** The deliveries that an event had lately: how many the next ones have is known only when they are stored. */
  let fanOut = 0;
  const group = groupCommit<Stored>({
    async write(items) {
      await writeAll(items);
      const endpointIds = new Set(items.flatMap(({ stored }) => stored?.endpoint_ids ?? []));
      if (endpointIds.size > 0) dispatcher.hint([...endpointIds]);
    },
    maxBatch: mostEvents,
    maxBacklog: mostWaiting,
    weight: { of: (item) => weightOf(item) + fanOut * deliveryBytes, most: mostBytes },
    overloaded,
  });

  async function insert(items: readonly Stored[], again: boolean): Promise<void> {
    const events = items.map(({ event }) => event);
    const rows = await acceptStore(db.sql).insert(events, settings.idempotencyMs, again);
    const byId = new Map(rows.map((row) => [row.id, row]));
    for (const item of items) item.stored = byId.get(item.event.id);
    const latest = rows.reduce((sum, { delivery_count }) => sum + delivery_count, 0) / items.length;
    fanOut = Math.max(latest, fanOut * 0.9);
  }

  /** Stores events together. If that fails for a reason of one of them, each stands for itself; if it takes too long, half of them do. */
  async function writeAll(items: readonly Stored[]): Promise<void> {
    const began = performance.now();
    const ended = () => performance.now() - began > patienceMs;
    try {
      await repeated((failures) => insert(items, failures > 0), ended);
    } catch (error) {
      const middle = Math.ceil(items.length / 2);
      if (isContention(error) && items.length > 1)
        for (const half of [items.slice(0, middle), items.slice(middle)]) await writeAll(half);
      else if (toDomainError(error) instanceof DomainError) throw error;
      else for (const item of items) await insert([item], true).catch((own: Error) => (item.error = own));
    }
  }

  return {
    async store(events) {
      const items = events.map((event): Stored => ({ event }));
      const bytes = items.reduce((sum, item) => sum + weightOf(item), 0);
      if (bytesWaiting + bytes > mostBytesWaiting) throw overloaded();
      bytesWaiting += bytes;
      try {
        await group.add(...items);
      } finally {
        bytesWaiting -= bytes;
      }
      return new Map(items.map((item) => [item.event.id, item]));
    },
    close: () => group.close(),
  };
}

const weightOf = ({ event }: Stored) => event.data.length + overhead;

const overloaded = () => Unavailable('too many events are waiting to be stored');
