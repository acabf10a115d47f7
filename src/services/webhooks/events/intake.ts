import { LRUCache } from 'lru-cache';
import { repeated } from '../../../db/engine/repetition.ts';
import { isContention, toDomainError } from '../../../db/errors.ts';
import { groupCommit } from '../../../db/group-commit.ts';
import { DomainError, Unavailable } from '../../../lib/errors.ts';
import type { Deps } from '../deps.ts';
import { acceptStore, mostDeliveries, type NewEvent, type StoredEvent } from './accept.store.ts';
import { subscriberOf } from './subscribers.store.ts';
import { createTenantLanes } from './tenant-lanes.ts';

/** What the statement made of an event; neither `stored` nor `error` is set when it did not store it. */
export interface Stored {
  readonly event: NewEvent;
  stored?: StoredEvent | undefined;
  error?: Error;
  /** Whether it did not fit into the last statement. */
  isDeferred?: boolean;
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
/** The milliseconds for which an event outlives an absence of the database. */
const patienceMs = 2_000;
/** An event with more deliveries than these is stored apart from those of other tenants, so that they do not wait for it. */
const mostNarrow = 20;
/** Milliseconds for which a tenant is remembered as one with many endpoints. */
const rememberedMs = 60_000;

/**
 * Lets events of all requests share statements: those that arrive while one runs are stored by the next one. Tenants with many endpoints
 * have statements of their own, in turn.
 */
export function createIntake(deps: Pick<Deps, 'db' | 'settings' | 'dispatcher'>): Intake {
  const write = createWriting(deps);
  const widths = new LRUCache<string, number>({ max: 10_000, ttl: rememberedMs, updateAgeOnGet: true });
  const pending = new Set<Promise<unknown>>();
  let bytesWaiting = 0;
  let isClosed = false;

  const isWide = ({ event }: Stored) => widths.get(tenantOf(event)) !== undefined;

  async function written(items: readonly Stored[]): Promise<void> {
    const deferred = await write(items);
    for (const { event } of items) {
      const width = deferred.get(event.id) ?? 0;
      if (width > mostNarrow) widths.set(tenantOf(event), width);
    }
  }

  const shared = groupCommit<Stored>({
    // What is found to be wide meanwhile goes behind the earlier events of its tenant.
    async write(items) {
      for (const item of items) item.isDeferred = true;
      for (let open = items; ;) {
        open = open.filter((item) => item.isDeferred === true && !isWide(item));
        if (open.length === 0) return;
        await written(open);
      }
    },
    maxBatch: mostEvents,
    maxBacklog: mostWaiting,
    weight: { of: weightOf, most: mostBytes },
    overloaded,
  });
  const lanes = createTenantLanes<Stored>({
    async write(tenant, items) {
      const width = widths.get(tenant) ?? 1;
      await written(items.slice(0, Math.max(1, Math.floor(mostDeliveries / width))));
      return items.filter(({ isDeferred }) => isDeferred);
    },
    weightOf,
    overloaded,
  });

  async function storeAll(items: readonly Stored[]): Promise<void> {
    const wide = items.filter(isWide);
    for (const item of wide) item.isDeferred = true;
    const others = items.filter((item) => !wide.includes(item));
    const apart = (list: readonly Stored[]) =>
      Promise.all([...Map.groupBy(list, ({ event }) => tenantOf(event))].map((lane) => lanes.add(...lane)));
    await Promise.all([
      apart(wide),
      shared.add(...others).then(() => apart(others.filter(({ isDeferred }) => isDeferred))),
    ]);
  }

  return {
    async store(events) {
      if (isClosed) throw Unavailable('shutting down');
      const items = events.map((event): Stored => ({ event }));
      const bytes = items.reduce((sum, item) => sum + weightOf(item), 0);
      if (bytesWaiting + bytes > mostBytesWaiting) throw overloaded();
      bytesWaiting += bytes;
      const stored = storeAll(items);
      pending.add(stored);
      try {
        await stored;
      } finally {
        pending.delete(stored);
        bytesWaiting -= bytes;
      }
      return new Map(items.map((item) => [item.event.id, item]));
    },
    async close() {
      isClosed = true;
      await Promise.allSettled(pending);
    },
  };
}

/** Stores what fits into a statement, and tells the width of what does not and is deferred, by the id of the event. */
function createWriting({ db, settings, dispatcher }: Pick<Deps, 'db' | 'settings' | 'dispatcher'>) {
  async function insert(items: readonly Stored[], again: boolean): Promise<ReadonlyMap<string, number>> {
    const events = items.map(({ event }) => event);
    const { stored, deferred } = await acceptStore(db.sql).insert(events, settings.idempotencyMs, again);
    const byId = new Map(stored.map((row) => [row.id, row]));
    for (const item of items) {
      item.stored = byId.get(item.event.id);
      item.isDeferred = deferred.has(item.event.id);
    }
    const endpointIds = new Set(stored.flatMap(({ endpoint_ids }) => endpoint_ids));
    if (endpointIds.size > 0) dispatcher.hint([...endpointIds]);
    return deferred;
  }

  /** Stores events together. If that fails for a reason of one of them, each stands for itself; if it takes too long, half of them do. */
  return async function write(items: readonly Stored[]): Promise<ReadonlyMap<string, number>> {
    const began = performance.now();
    const ended = () => performance.now() - began > patienceMs;
    try {
      return await repeated((failures) => insert(items, failures > 0), ended);
    } catch (error) {
      const middle = Math.ceil(items.length / 2);
      if (isContention(error) && items.length > 1) {
        const first = await write(items.slice(0, middle));
        return new Map([...first, ...(await write(items.slice(middle)))]);
      }
      if (toDomainError(error) instanceof DomainError) throw error;
      for (const item of items)
        await insert([item], true).catch((own: Error) =>
          Object.assign(item, { error: own, isDeferred: false }),
        );
      return new Map();
    }
  };
}

const tenantOf = ({ tenant_id, app_id }: NewEvent) => subscriberOf(tenant_id, app_id);

const weightOf = ({ event }: Stored) => event.data.length + overhead;

const overloaded = () => Unavailable('too many events are waiting to be stored');
